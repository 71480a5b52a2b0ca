package report

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// largePlan changes many objects, one of them at great length.
func largePlan() *plan.Document {
	var steps []plan.Step
	object := func(i int) manifest.ID {
		return manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("settings-%02d", i)}
	}
	for i := range 40 {
		steps = append(steps, plan.Step{
			ID: fmt.Sprint(i), Op: plan.OpPatch, Object: object(i),
			Changes: []plan.Change{{Path: "data.x", From: "old", To: fmt.Sprintf("new-%02d", i)}, {Path: "data.y", To: strings.Repeat("y", 300)}},
		})
	}
	var many []plan.Change
	for i := range 150 {
		many = append(many, plan.Change{Path: fmt.Sprintf("data.k%03d", i), From: "a", To: fmt.Sprintf("many-%03d", i)})
	}
	steps = append(steps, plan.Step{ID: "many", Op: plan.OpPatch, Object: object(90), Changes: many})
	steps = append(steps, plan.Step{ID: "gone", Op: plan.OpDelete, Object: object(91), Risk: plan.RiskDelete})
	p := &plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}}
	p.ChartTo = plan.ChartRef{Name: "web", Version: "1.0.0"}
	p.Problems = append(p.Problems, plan.Problem{Foremost: true, What: "3 CRDs differ from those of the chart"})
	for i := range 20 {
		p.Problems = append(p.Problems, plan.Problem{What: fmt.Sprintf("problem %02d %s", i, strings.Repeat("x", 100))})
	}
	p.OnFailure = &plan.OnFailure{Rollback: &plan.RollbackPreview{To: 1}}
	for i := range 30 {
		p.OnFailure.Rollback.Lasting = append(p.OnFailure.Rollback.Lasting, plan.Lasting{Object: object(i), What: fmt.Sprintf("effect %02d stays", i)})
	}
	p.OnFailure.Rollback.Lasting[0].Step = "many"
	p.Summary = summarize(p)
	return p
}

// Whatever the comment has no room for is in the rest, in full, and the comment
// says where that is.
func TestMarkdownSpillsTheRest(t *testing.T) {
	p := largePlan()
	for _, budget := range []int{1000, 3000, 8000, 20000, 65000} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			var comment, rest bytes.Buffer
			if err := Markdown(&comment, p, MarkdownOptions{Budget: budget, Rest: &rest, RestName: "rest.md"}); err != nil {
				t.Fatal(err)
			}
			if comment.Len() > budget {
				t.Errorf("%d bytes with a budget of %d", comment.Len(), budget)
			}
			if budget >= 3000 && !strings.Contains(comment.String(), "`rest.md`") {
				t.Errorf("the comment does not say where the rest is:\n%s", comment.String())
			}
			if strings.Contains(comment.String(), "\n\n\n") {
				t.Errorf("two blank lines follow each other:\n%s", comment.String())
			}
			if empty := emptyHeading.FindString(comment.String()); empty != "" {
				t.Errorf("a heading without a text: %q", empty)
			}
			both := comment.String() + rest.String()
			if !strings.Contains(both, pointTitle) {
				t.Error("the point of no return is nowhere")
			}
			for i := range 40 {
				if !strings.Contains(both, fmt.Sprintf("new-%02d", i)) {
					t.Errorf("the change of settings-%02d is nowhere", i)
				}
			}
			for i := range 150 {
				if !strings.Contains(both, fmt.Sprintf("many-%03d", i)) {
					t.Errorf("change %d of many is nowhere", i)
				}
			}
			for i := range 20 {
				if !strings.Contains(both, fmt.Sprintf("problem %02d", i)) {
					t.Errorf("problem %d is nowhere", i)
				}
			}
			for i := range 30 {
				if !strings.Contains(both, fmt.Sprintf("effect %02d", i)) {
					t.Errorf("lasting effect %d is nowhere", i)
				}
			}
			if gone := strings.Index(comment.String(), "Destroyed"); budget > 8000 && (gone < 0 || gone > strings.Index(comment.String(), "settings-00")) {
				t.Error("what is destroyed does not come first")
			}
		})
	}
}

// emptyHeading matches a heading that is followed by another one, by the sentence about what is left
// out, or by nothing.
var emptyHeading = regexp.MustCompile(`(?m)^####.*\n+(####.*|\*\*Not shown.*|\z)`)

// A bot that uploads the rest finds the file even if there is no rest.
func TestMarkdownWithoutARest(t *testing.T) {
	p := readCase(t, "testdata/upgrade.txtar").plan
	var comment, rest, without bytes.Buffer
	if err := Markdown(&comment, p, MarkdownOptions{Rest: &rest, RestName: "rest.md"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(rest.String(), "Nothing was left out of the comment.") {
		t.Errorf("the rest is\n%s", rest.String())
	}
	if err := Markdown(&without, p, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	if comment.String() != without.String() {
		t.Error("the comment speaks of a rest that is not there")
	}
}

func TestMarkdownTellsAnUnwritableRest(t *testing.T) {
	var comment bytes.Buffer
	if err := Markdown(&comment, largePlan(), MarkdownOptions{Rest: brokenWriter{}}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// Comments on the same release in two clusters have markers of their own, and a
// marker stays a comment.
func TestMarkers(t *testing.T) {
	p := readCase(t, "testdata/upgrade.txtar").plan
	for name, want := range map[string]string{
		"":         "<!-- kubectl-release plan of " + p.Release.String() + " -->",
		"prod":     "<!-- kubectl-release plan of " + p.Release.String() + ", prod -->",
		"--> @all": "<!-- kubectl-release plan of " + p.Release.String() + ", - - @all -->",
	} {
		if got := Marker(p, name); got != want {
			t.Errorf("Marker(%q) = %s, want %s", name, got, want)
		}
	}
}
