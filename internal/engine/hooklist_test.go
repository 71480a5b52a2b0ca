package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Every item of a hook that is a List is run, in each operation: a stored one ends none (Helm 4.3.1,
// pkg/kube/client.go, buildResourceList, flattens it as well).
func TestHooksThatAreLists(t *testing.T) {
	source := chartOf("lists", `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: v1
kind: List
metadata:
  name: all
  annotations: {helm.sh/hook: "pre-install,pre-upgrade,pre-rollback,pre-delete"}
items:
- {apiVersion: batch/v1, kind: Job, metadata: {name: migrate}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
`)
	inCluster(t, func(t *testing.T, b bench, _ *clusterfake.Cluster) {
		for _, operation := range []struct {
			event string
			plan  func(context.Context) (*plan.Plan, error)
		}{
			{"pre-install", func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: source})
			}},
			{"pre-upgrade", func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: source})
			}},
			{"pre-rollback", func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanRollback(ctx, webKey, Rollback{To: 1, ServerSide: ServerSideAuto})
			}},
			{"pre-delete", func(ctx context.Context) (*plan.Plan, error) {
				return b.PlanUninstall(ctx, webKey, Uninstall{})
			}},
		} {
			var ran []string
			_, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, operation.plan, func(p *plan.Plan) error {
				ran = nil
				p.Steps(func(stage plan.StageName, s *plan.Step) {
					if s.Op == plan.OpRun && strings.HasPrefix(string(stage), operation.event) {
						ran = append(ran, s.Object.Kind+"/"+s.Object.Name)
					}
				})
				return nil
			})
			if want := []string{"ConfigMap/settings", "Job/migrate"}; err != nil || !slices.Equal(ran, want) {
				t.Fatalf("%s runs %v, want %v, error %v", operation.event, ran, want, err)
			}
		}
	})
}
