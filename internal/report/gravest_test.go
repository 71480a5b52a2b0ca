package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Of an object with very many changes, those that matter most are shown, not those that
// happen to be first; what was changed by hand is among them.
func TestTheGravestChangesOfAnObjectAreShown(t *testing.T) {
	var changes []plan.Change
	for i := range 20 {
		changes = append(changes, plan.Change{Path: fmt.Sprintf("spec.template.spec.containers[app].livenessProbe.exec.command[%d]", i), From: fmt.Sprint("a", i), To: fmt.Sprint("b", i), Cause: plan.CauseChart})
	}
	changes = append(changes,
		plan.Change{Path: "spec.template.spec.containers[app].image", From: "app:1", To: "app:2", Cause: plan.CauseChart},
		plan.Change{Path: "spec.template.spec.containers[app].resources.limits.memory", To: "192Mi", Cause: plan.CauseChart},
		plan.Change{Path: "spec.template.spec.dnsPolicy", From: "Default", To: "ClusterFirst", Cause: plan.CauseDrift},
	)
	id := manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	p := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{
		Steps: []plan.Step{{ID: "s1", Object: id, Op: plan.OpPatch, Changes: changes}},
	}}}}}
	p.Summary = summarize(p)
	var b bytes.Buffer
	if err := Text(&b, p, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, told := range []string{"app:1 → app:2", "added: 192Mi", "Default → ClusterFirst", "a0 → b0", "… 11 more changes (--full)"} {
		if !strings.Contains(b.String(), told) {
			t.Errorf("the plan does not say %q:\n%s", told, b.String())
		}
	}
	if strings.Contains(b.String(), "a9 → b9") {
		t.Errorf("more than 12 changes are shown:\n%s", b.String())
	}
}
