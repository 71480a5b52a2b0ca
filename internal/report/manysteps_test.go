package report

import (
	"fmt"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Of a step that does not fit into a comment only the name is written: its object is not printed first.
func TestStepsThatDoNotFitTakeNoTime(t *testing.T) {
	creating := func(n int) *plan.Document {
		var steps []plan.Step
		for i := range n {
			id := manifest.ID{Kind: "ConfigMap", Name: fmt.Sprintf("c%d", i)}
			steps = append(steps, plan.Step{
				ID: id.Name, Op: plan.OpCreate, Object: id,
				Body: &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": "b"}}},
			})
		}
		d := &plan.Document{Operation: plan.Install, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}}
		d.Summary = summarize(d)
		return d
	}
	allocations := func(n int) float64 {
		d := creating(n)
		return testing.AllocsPerRun(1, func() {
			if err := Markdown(io.Discard, d, MarkdownOptions{Budget: 5000}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if each := (allocations(1200) - allocations(200)) / 1000; each > 60 {
		t.Errorf("a step that does not fit takes %.0f allocations", each)
	}
}
