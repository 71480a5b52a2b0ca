package engine

import (
	"context"
	"testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// counting is a cluster that counts deletions.
type counting struct {
	*clusterfake.Cluster
	deleted *int
}

func (c counting) Delete(ctx context.Context, ref apply.Ref, o apply.DeleteOptions) error {
	*c.deleted++
	return c.Cluster.Delete(ctx, ref, o)
}

// An object that is both a resource and a hook that runs before the resources is the resource in the end,
// after every operation, whatever the hook's delete policy, as the plan says.
func TestAResourceIsCreatedAgainBehindItsHook(t *testing.T) {
	for policy, deletions := range map[string][]int{
		"before-hook-creation,hook-succeeded": {1, 2, 2}, "before-hook-creation": {1, 2, 2}, "hook-succeeded,before-hook-creation,hook-failed": {1, 2, 2},
	} {
		t.Run(policy, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				for i, text := range []string{"one", "two", "two"} {
					deleted := 0
					b.Cluster = counting{c, &deleted}
					source := shop(map[string]any{"text": text})
					source.Chart.Templates = append(source.Chart.Templates, &chart.File{Name: "templates/hook.yaml", Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "` + policy + `"}
data: {text: {{ .Values.text | quote }}}
`)})
					p, err := b.deploy(Deployment{Source: source, Options: plan.Options{ServerSide: i > 0}}, nothing)
					if err != nil {
						t.Fatalf("%s: %v", p.Operation, err)
					}
					live := c.Objects[configMap]
					if live == nil || !plan.Owns(webKey, live) || live.GetAnnotations()[manifest.HookAnnotation] != "" || live.Object["data"].(map[string]any)["text"] != text {
						t.Fatalf("%s leaves %v", p.Operation, live)
					}
					if deleted != deletions[i] {
						t.Errorf("%s: %d deletions, want %d", p.Operation, deleted, deletions[i])
					}
				}
			})
		})
	}
}
