package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Objects that are joined may have many rows: each row of each object is looked at once, not beside every
// other.
func TestJoiningReadsEachRowOnce(t *testing.T) {
	allocations := func(rows int) float64 {
		d := changingAlike(rows)
		return testing.AllocsPerRun(1, func() {
			if err := HTML(io.Discard, d); err != nil {
				t.Fatal(err)
			}
		})
	}
	if each := (allocations(250) - allocations(50)) / 200; each > 600 {
		t.Errorf("a row takes %.0f allocations", each)
	}
}

// The rest of a comment has an object whole of which the comment shows a hundred changes, also if others change
// like it.
func TestTheRestHasLongObjectsWhole(t *testing.T) {
	for _, rows := range []int{100, 101} {
		var comment, rest bytes.Buffer
		if err := Markdown(&comment, changingAlike(rows), MarkdownOptions{Rest: &rest, RestName: "rest.md"}); err != nil {
			t.Fatal(err)
		}
		joined, last := strings.Contains(comment.String(), "3 ConfigMaps"), strings.Count(rest.String(), "+ data.k100:")
		if joined != (rows == 100) || rows > 100 && last != minFold {
			t.Errorf("%d changes: joined is %t, and of the last one there are %d in\n%.2000s", rows, joined, last, rest.String())
		}
	}
}

// changingAlike returns a plan that changes that many keys of ConfigMaps that could be joined.
func changingAlike(rows int) *plan.Document {
	var steps []plan.Step
	for i := range minFold {
		id := manifest.ID{Kind: "ConfigMap", Name: fmt.Sprintf("c%d", i)}
		s := plan.Step{ID: id.Name, Op: plan.OpPatch, Object: id}
		for k := range rows {
			s.Changes = append(s.Changes, plan.Change{Path: fmt.Sprintf("data.k%d", k), From: "a", To: "b"})
		}
		steps = append(steps, s)
	}
	d := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}}
	d.Summary = summarize(d)
	return d
}
