package report

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Who has changed a field by hand, and when, can be read in a terminal of 80 columns.
func TestDriftIsReadableInANarrowTerminal(t *testing.T) {
	for _, detail := range []string{"kubectl-edit 3h ago", "kubectl-patch 12m ago", "kubectl-rollout 12m ago"} {
		s := plan.Step{
			ID: "s1", Op: plan.OpPatch, Object: manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Changes: []plan.Change{{Path: "spec.template.spec.containers[web].image", From: "shop/worker:hot", To: "shop/worker:1.0", Cause: plan.CauseDrift, Detail: detail}},
		}
		p := &plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{s}}}}}}
		var b strings.Builder
		if err := Text(&b, p, TextOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), detail) {
			t.Errorf("%q is cut:\n%s", detail, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if n := width(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}
