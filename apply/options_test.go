package apply_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// optioned is a cluster that keeps the options of the last patch.
type optioned struct {
	*clusterfake.Cluster
	last *apply.WriteOptions
}

func (c optioned) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	*c.last = o
	return c.Cluster.Patch(ctx, ref, p, o)
}

// Fields are taken over from other managers only if the plan was made for that.
func TestPatchesHaveTheOptionsOfThePlan(t *testing.T) {
	for _, force := range []bool{false, true} {
		w, sent := installed(t), apply.WriteOptions{}
		p := plannedWith(t, w, plan.Upgrade, revision(2, after), plan.Options{FieldManager: "us", ServerSide: true, ForceConflicts: force})
		env := w.Env()
		env.Cluster = optioned{w, &sent}
		if _, err := apply.Run(t.Context(), p, env); err != nil {
			t.Fatal(err)
		}
		if sent.Force != force || sent.FieldManager != "us" || sent.DryRun {
			t.Errorf("with ForceConflicts %v a patch was sent with %+v", force, sent)
		}
	}
}

// A resource that becomes a hook takes its fields over, unless it is deleted and created instead.
func TestAHookTakesOverWhatItWasAsAResource(t *testing.T) {
	was := &plan.HookRun{WasResource: true}
	for name, test := range map[string]struct {
		step plan.Step
		want bool
	}{
		"a ConfigMap":           {plan.Step{Op: plan.OpRun, Hook: was, Object: manifest.ID{Kind: "ConfigMap"}}, true},
		"its deletion":          {plan.Step{Op: plan.OpDelete, Hook: was, Object: manifest.ID{Kind: "ConfigMap"}}, false},
		"a Job":                 {plan.Step{Op: plan.OpRun, Hook: was, Object: manifest.ID{Group: "batch", Kind: "Job"}}, false},
		"what was always one":   {plan.Step{Op: plan.OpRun, Hook: &plan.HookRun{}, Object: manifest.ID{Kind: "ConfigMap"}}, false},
		"a resource that stays": {plan.Step{Op: plan.OpPatch, Object: manifest.ID{Kind: "ConfigMap"}}, false},
	} {
		if got := (apply.WriteOptions{}).For(&test.step).Force; got != test.want {
			t.Errorf("%s: %v", name, got)
		}
		if !(apply.WriteOptions{Force: true}).For(&test.step).Force {
			t.Errorf("%s: the option is lost", name)
		}
	}
}
