package engine

import (
	"context"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// S20: the Job of a killed run's hook is deleted by the next one, whether or not that runs the hook.
func TestTheHookOfAKilledRunIsStopped(t *testing.T) {
	const hook = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, annotations: {helm.sh/hook: pre-upgrade}}
`
	migrate := manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: "migrate"}
	for _, op := range []plan.Operation{plan.Upgrade, plan.Uninstall} {
		t.Run(string(op), func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				b.mustDeploy(nil)
				deployed, err := b.Newest(t.Context(), webKey)
				if err != nil {
					t.Fatal(err)
				}
				killed := deployed.WithStatus(release.StatusPendingUpgrade, plan.PendingMark+": upgrade under way")
				killed.Version, killed.Hooks = 2, []release.Hook{{Hook: manifest.Hook{
					Name: "migrate", Kind: "Job", Path: "shop/templates/hook.yaml", Manifest: hook, Events: []manifest.Event{manifest.PreUpgrade},
				}}}
				if err := b.Store.Create(t.Context(), killed); err != nil {
					t.Fatal(err)
				}
				c.Objects[migrate] = objecttest.Parse(t, hook)
				c.Objects[migrate].SetUID("running")
				_, _, err = b.PlanAndApply(t.Context(), releasestore.LockOptions{}, func(ctx context.Context) (*plan.Plan, error) {
					if op == plan.Uninstall {
						return b.PlanUninstall(ctx, webKey, Uninstall{})
					}
					return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: shop(map[string]any{"text": "two"})})
				}, func(*plan.Plan) error { return nil })
				if err != nil || c.Objects[migrate] != nil {
					t.Errorf("error %v, writes %q", err, c.Log)
				}
			})
		})
	}
}
