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
