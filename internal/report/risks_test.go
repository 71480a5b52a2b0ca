package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Risks come in the order in which they are counted, not in that of the run.
func TestTheGravestRisksComeFirst(t *testing.T) {
	step := func(op plan.Op, group, kind, name string, risk plan.Risk) plan.Step {
		return plan.Step{ID: name, Op: op, Object: manifest.ID{Group: group, Kind: kind, Namespace: "shop", Name: name}, Risk: risk}
	}
	p := &plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
		step(plan.OpPatch, "apps", "Deployment", "web", plan.RiskScaleDown),
		step(plan.OpRecreate, "batch", "Job", "load", plan.RiskRecreate),
		step(plan.OpDelete, "", "Service", "web", plan.RiskDelete),
		step(plan.OpDelete, "", "PersistentVolumeClaim", "data", plan.RiskData),
	}}}}}}
	var got []string
	for _, n := range risks(p, newNamer(p)) {
		got = append(got, n.name)
	}
	want := []string{"PersistentVolumeClaim/data", "", "Job/load", "Deployment/web"} // "" counts the deletions
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("risks (-want +got):\n%s", diff)
	}
}
