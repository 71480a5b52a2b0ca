package engine

import (
	"context"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// An install is revision 1 to templates, even if it follows a history that was kept: only the record has
// the next number (Helm 4.3.1, pkg/action/install.go, RunWithContext and replaceRelease).
func TestRevisionsThatTemplatesSee(t *testing.T) {
	source := telling("", "{{ .Release.Revision }} {{ .Release.IsInstall }}")
	inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
		deploy := func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanDeployment(ctx, Deployment{Release: webKey, Source: source, Options: plan.Options{Replace: true}})
		}
		uninstall := func(ctx context.Context) (*plan.Plan, error) {
			return b.PlanUninstall(ctx, webKey, Uninstall{Options: plan.Options{KeepHistory: true}})
		}
		for i, operation := range []struct {
			plan func(context.Context) (*plan.Plan, error)
			text string // "" after an uninstall
		}{{deploy, "1 true"}, {deploy, "2 false"}, {uninstall, ""}, {deploy, "1 true"}, {deploy, "4 false"}} {
			if _, _, err := b.PlanAndApply(t.Context(), releasestore.LockOptions{}, operation.plan, func(*plan.Plan) error { return nil }); err != nil {
				t.Fatal(err)
			}
			text := ""
			if live := c.Objects[configMap]; live != nil {
				text, _ = live.Object["data"].(map[string]any)["text"].(string)
			}
			if text != operation.text {
				t.Errorf("operation %d: templates saw %q, want %q", i, text, operation.text)
			}
		}
	})
}
