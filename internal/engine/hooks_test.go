package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// chartOf returns a chart of one template.
func chartOf(name, text string) Source {
	return Source{Chart: &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(text)}},
	}}
}

// A hook that can't be parsed ends the operations that run it, and no others.
func TestHooksThatCannotBeParsed(t *testing.T) {
	source := chartOf("unnamed", `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: v1
kind: Pod
metadata: {generateName: test-, annotations: {helm.sh/hook: "test,pre-rollback"}}
`)
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		deploy := func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: source})
		}
		rollback := func(o plan.Options) func(context.Context) (*plan.Plan, error) {
			return func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanRollback(ctx, webKey, Rollback{To: 1, ServerSide: ServerSideAuto, Options: o})
			}
		}
		for _, operation := range []struct {
			name         string
			plan         func(context.Context) (*plan.Plan, error)
			fails, warns bool
		}{
			{"install", deploy, false, true},
			{"upgrade", deploy, false, true},
			{"rollback", rollback(plan.Options{}), true, false},
			{"rollback without hooks", rollback(plan.Options{NoHooks: true}), false, false},
			{"test", func(ctx context.Context) (*plan.Plan, error) { return b.PlanTest(ctx, webKey, plan.Options{}) }, true, false},
			{"uninstall", func(ctx context.Context) (*plan.Plan, error) { return b.PlanUninstall(ctx, webKey, Uninstall{}) }, false, false},
		} {
			warned := false
			_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, operation.plan, func(p *plan.Plan) error {
				for _, w := range p.Problems {
					warned = warned || !w.Blocking && strings.Contains(w.What, "Pod has metadata.generateName") && strings.HasSuffix(w.What, "this "+operation.name+" does not run it")
				}
				return nil
			})
			if failed := err != nil && strings.Contains(err.Error(), "Pod has metadata.generateName"); failed != operation.fails || warned != operation.warns || err != nil && !failed {
				t.Errorf("%s: error %v, warned %v", operation.name, err, warned)
			}
		}
	})
}

// A namespace in which only a hook before the resources is does not exist: an install stops before it writes anything.
func TestHooksInAMissingNamespace(t *testing.T) {
	source := chartOf("elsewhere", `apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: elsewhere, annotations: {helm.sh/hook: pre-install}}
`)
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		p, err := b.PlanDeployment(t.Context(), Deployment{Release: webKey, Source: source})
		if err != nil {
			t.Fatal(err)
		}
		if !p.Blocked() || p.Problems[0].Object != plan.NamespaceID("elsewhere") {
			t.Errorf("%+v", p.Problems)
		}
	})
}
