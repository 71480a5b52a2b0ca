package report

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Whatever the keys of objects are, changes of their fields are printed; a saved plan may even have paths that no
// comparison gives.
func TestOddKeysArePrinted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	odd := func() string {
		const characters = "[].\\\"' ax\n"
		key := make([]byte, random.IntN(4))
		for i := range key {
			key[i] = characters[random.IntN(len(characters))]
		}
		return string(key)
	}
	for range 200 {
		var steps []plan.Step
		for i := range minFold {
			id := manifest.ID{Kind: "ConfigMap", Name: fmt.Sprint("c", i)}
			s := plan.Step{ID: id.Name, Op: plan.OpPatch, Object: id}
			document := func(value string) map[string]any {
				return map[string]any{odd(): value, "spec": map[string]any{odd(): value}, "list": []any{map[string]any{"name": odd(), "v": value}}}
			}
			for _, c := range fielddiff.Compare(document("a"), document("b")) {
				s.Changes = append(s.Changes, plan.Change{Path: c.Path, From: c.From, To: c.To})
			}
			s.Changes = append(s.Changes, plan.Change{Path: odd(), From: `{"": 1}`, To: `{"": 2}`})
			steps = append(steps, s)
		}
		d := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}}
		d.Summary = summarize(d)
		for form, output := range outputs(caseOptions{}) {
			if err := output(io.Discard, d); err != nil {
				t.Errorf("%s: %v", form, err)
			}
		}
	}
}
