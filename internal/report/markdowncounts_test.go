package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// However many problems there are, a comment has the counts, mentions those who are asked for a review, and says
// what is left out.
func TestMarkdownAlwaysCounts(t *testing.T) {
	p := &plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}}
	var steps []plan.Step
	var asked []plan.Asked
	for i := range 400 {
		id := manifest.ID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: fmt.Sprintf("data-%d", i)}
		steps = append(steps, plan.Step{ID: id.Name, Op: plan.OpDelete, Object: id, Risk: plan.RiskData})
		asked = append(asked, plan.Asked{Step: id.Name, Object: id, Why: strings.Repeat("it is deleted ", 10)})
		p.Problems = append(p.Problems, plan.Problem{Object: id, Blocking: true, What: strings.Repeat("it would be deleted with what it holds ", 5)})
	}
	p.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}
	p.Reviews = []plan.Review{{By: "@shop/ops", Asked: asked}, {By: "@shop/dba", Asked: asked}}
	p.Summary = summarize(p)
	for _, budget := range []int{1500, DefaultBudget} {
		var comment, rest bytes.Buffer
		if err := Markdown(&comment, p, MarkdownOptions{Budget: budget, Rest: &rest, RestName: "rest.md"}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"**Plan: 400 to delete**", "**Risks: 400 losses of data**", "more notices", "\n- 👀 @shop/ops, please review: ", "\n- 👀 @shop/dba, please review: "} {
			if !strings.Contains(comment.String(), want) {
				t.Errorf("%d: %q is missing in\n%.3000s", budget, want, comment.String())
			}
		}
		if both := comment.String() + rest.String(); !strings.Contains(both, "PersistentVolumeClaim/data-5: it is deleted") {
			t.Errorf("%d: nothing says what is to be reviewed", budget)
		}
		if comment.Len() > budget {
			t.Errorf("%d bytes with a budget of %d", comment.Len(), budget)
		}
		for i := range 400 {
			if both := comment.String() + rest.String(); strings.Count(both, fmt.Sprintf("PersistentVolumeClaim/data-%d**: delete", i)) != 1 {
				t.Fatalf("the risk of data-%d is nowhere", i)
			}
		}
	}
}
