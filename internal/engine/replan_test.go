package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// unhelpful is an empty cluster that does not say what is allowed.
type unhelpful struct{ Cluster }

func (unhelpful) Facts(context.Context) (cluster.Facts, error) { return cluster.Facts{}, nil }

func (unhelpful) Kinds(context.Context, []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	return nil, nil
}

func (unhelpful) Observe(context.Context, []apply.Ref) (map[manifest.ID]plan.Observation, error) {
	return nil, nil
}

func (unhelpful) Predict(context.Context, []*plan.Step, apply.WriteOptions) (map[string]plan.Prediction, error) {
	return map[string]plan.Prediction{}, nil
}

func (unhelpful) Access(context.Context, []plan.Permission) plan.Access {
	return plan.Access{Unchecked: "it is out of order"}
}

// A plan that is made again for what was reviewed reports each problem once.
func TestAgainRepeatsNoWarning(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.Cluster = unhelpful{}
		b.pending()
		p, err := b.PlanUninstall(t.Context(), webKey, Uninstall{Options: plan.Options{TakeOver: true}})
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := b.Replan(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(fresh.Problems) == 0 {
			t.Fatal("it says nothing; this test is about what is said")
		}
		told := map[string]bool{}
		for _, problem := range fresh.Problems {
			said := fmt.Sprint(problem)
			if told[said] {
				t.Errorf("said twice: %v", problem)
			}
			told[said] = true
		}
	})
}

// A test that was planned earlier writes its outcome into the record as it is then.
func TestAnEarlierTestPlanRestoresNoRecord(t *testing.T) {
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		b.mustDeploy(map[string]any{"hook": true})
		p, err := b.PlanTest(t.Context(), webKey, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		newest := func() *release.Revision {
			r, err := b.Newest(t.Context(), webKey)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		later := newest().WithStatus(release.StatusDeployed, "Install complete")
		later.Hooks[0].LastRun.Phase = release.PhaseFailed
		if err := b.Store.Update(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ApplyReviewed(t.Context(), p, releasestore.LockOptions{}); err != nil || newest().Hooks[0].LastRun.Phase != release.PhaseFailed {
			t.Errorf("%v, the hook %s", err, newest().Hooks[0].LastRun.Phase)
		}
		if err := b.Store.Update(t.Context(), newest().WithStatus(release.StatusUninstalled, "Uninstallation complete")); err != nil {
			t.Fatal(err)
		}
		var stale *StaleError
		if _, err := b.ApplyReviewed(t.Context(), p, releasestore.LockOptions{}); !errors.As(err, &stale) || b.statuses() != "uninstalled" {
			t.Errorf("%v, records %s", err, b.statuses())
		}
	})
}
