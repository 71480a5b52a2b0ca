package findings

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A loss of data comes before deletions, whichever comes first in the run: GitHub shows only ten warnings.
func TestALossOfDataComesFirst(t *testing.T) {
	var steps []plan.Step
	for i := range mostAnnotations + 2 {
		s := step(plan.OpDelete, manifest.ID{Kind: "Service", Namespace: "shop", Name: fmt.Sprint("s", i)}, 0)
		s.Risk = plan.RiskDelete
		steps = append(steps, s)
	}
	claim := step(plan.OpDelete, manifest.ID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}, 0)
	claim.Risk = plan.RiskData
	p := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: append(steps, claim)}}}}}
	var b bytes.Buffer
	if err := Annotations(&b, p); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(b.String(), "\n"); !strings.Contains(first, "PersistentVolumeClaim/data") {
		t.Errorf("the first of the annotations is not the loss of data:\n%s", b.String())
	}
}

// Of what is only noted, what has to be read before anything else comes first, then other problems, then risks:
// GitHub shows only ten notices, too. Of what a policy denies, the gravest comes first.
func TestProblemsComeBeforeRisksThatAreNoted(t *testing.T) {
	var steps []plan.Step
	for i := range mostAnnotations + 2 {
		s := step(plan.OpPatch, manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprint("d", i)}, 0)
		s.Risk = plan.RiskScaleDown
		steps = append(steps, s)
	}
	first := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}, Problems: []plan.Problem{
		{What: "an odd value", Kind: plan.ProblemValues},
		{What: "it would be deleted", Kind: plan.ProblemPolicy, Risk: plan.RiskDelete, Blocking: true},
		{What: "it can't be read", Kind: plan.ProblemPermission, Blocking: true},
	}}
	second := &plan.Document{Operation: plan.Upgrade, Problems: []plan.Problem{
		{What: "read this first", Foremost: true},
		{What: "its data would be lost", Kind: plan.ProblemPolicy, Risk: plan.RiskData, Blocking: true},
	}}
	var got []string
	for _, f := range Of(first, second)[:6] {
		got = append(got, f.Rule)
	}
	want := "blocked/permission policy/data policy/delete warning/plan warning/values risk/scale-down"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
