package report

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
)

// The same plan gives the same bytes: a bot that compares comments, and a
// person who compares plans, must see real differences only.
func TestOutputsAreDeterministic(t *testing.T) {
	for _, name := range []string{"secrets", "upgrade"} {
		p := readCase(t, "testdata/"+name+".txtar").plan
		for form, output := range outputs(caseOptions{}) {
			var first string
			for i := range 100 {
				var b bytes.Buffer
				if err := output(&b, &redact.Plan(&plan.Plan{Document: *p}).Document); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = b.String()
				} else if b.String() != first {
					t.Fatalf("%s of %s differs at run %d", form, name, i)
				}
			}
		}
	}
}

// No output format lets text from a chart or the cluster reach the terminal raw.
func TestOutputsHoldNoControlCharacters(t *testing.T) {
	p := readCase(t, "testdata/hostile.txtar").plan
	for form, output := range outputs(caseOptions{}) {
		var b bytes.Buffer
		if err := output(&b, &redact.Plan(&plan.Plan{Document: *p}).Document); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if escape.Line(line) != line {
				t.Errorf("%s, line %d: %q", form, i+1, line)
			}
		}
	}
}

// GitHub refuses comments that are too long: the budget holds for any plan.
func TestMarkdownKeepsItsBudget(t *testing.T) {
	p := readCase(t, "testdata/limits.txtar").plan
	for i := range 50 {
		p.Problems = append(p.Problems, plan.Problem{What: fmt.Sprintf("problem %d %s", i, strings.Repeat("x", 200)), Blocking: true})
	}
	p.Summary = summarize(p)
	for _, budget := range []int{600, 1000, 1500, 4000, 10000, 65000} {
		var b bytes.Buffer
		if err := Markdown(&b, p, MarkdownOptions{Budget: budget}); err != nil {
			t.Fatal(err)
		}
		if b.Len() > budget {
			t.Errorf("%d bytes with a budget of %d", b.Len(), budget)
		}
		if budget < 10000 && !strings.Contains(b.String(), "Not shown, for lack of room") {
			t.Errorf("with a budget of %d nothing says that something is missing:\n%s", budget, b.String())
		}
		if !strings.HasPrefix(b.String(), Marker(p, "")+"\n") || !utf8.Valid(b.Bytes()) {
			t.Errorf("with a budget of %d the comment does not begin with its marker", budget)
		}
	}
}

// A text can't leave the block of code that it is printed in.
func TestMarkdownFencesHold(t *testing.T) {
	p := &plan.Document{Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{{
		ID: "x", Op: plan.OpPatch, Object: manifest.ID{Kind: "ConfigMap", Name: "@all #1 <b>`x`"},
		Changes: []plan.Change{{Path: "data.x", From: "a\n```\n# out\n", To: "b\n````\n</details>\n"}},
	}}}}}}}
	p.Summary = summarize(p)
	var b bytes.Buffer
	if err := Markdown(&b, p, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "`````"); got != 2 {
		t.Errorf("%d fences of five backticks, want 2:\n%s", got, b.String())
	}
	for _, raw := range []string{"@all", "<b>", "#1 <"} {
		for line := range strings.SplitSeq(b.String(), "\n") {
			if strings.Contains(line, raw) && strings.Contains(line, "summary") {
				t.Errorf("%q is markup in %s", raw, line)
			}
		}
	}
}

// Whoever writes to a closed pipe must hear of it.
func TestOutputsTellWriteErrors(t *testing.T) {
	for form, output := range outputs(caseOptions{}) {
		if err := output(brokenWriter{}, readCase(t, "testdata/upgrade.txtar").plan); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", form, err)
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// Lines of text keep to the width they are given, except for long words.
func TestTextKeepsItsWidth(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, columns := range []int{80, 100, 140} {
			var b bytes.Buffer
			if err := Text(&b, &redact.Plan(&plan.Plan{Document: *readCase(t, file).plan}).Document, TextOptions{Width: columns}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if width(line) > columns && len(strings.Fields(line)) > 1 {
					t.Errorf("%s, %d columns: %d in %q", file, columns, width(line), line)
				}
			}
		}
	}
}

func TestShortPathKeepsBothEnds(t *testing.T) {
	const path = "spec.template.spec.containers[web].env[A.B].valueFrom"
	for limit, want := range map[int]string{
		60: path, 41: "spec.….containers[web].env[A.B].valueFrom", 30: "spec.…[web].env[A.B].valueFrom", 12: "spe…alueFrom",
	} {
		if got := shortPath(path, limit); got != want || width(got) > max(limit, 12) {
			t.Errorf("shortPath to %d = %s, want %s", limit, got, want)
		}
	}
}

func TestCutValuesKeepTheirDifference(t *testing.T) {
	long := strings.Repeat("abcdefgh", 20)
	from, to := cutPair(long+"1", long+"2", 30)
	if from == to || width(from)+width(to) > 30 {
		t.Errorf("cut to %q and %q", from, to)
	}
}

func TestRevisionsAreCounted(t *testing.T) {
	for want, numbers := range map[string][]int{
		"revision 7": {7}, "revisions 1, 2": {2, 1}, "revisions 1–3, 5": {1, 2, 3, 5}, "revisions 1–3": {1, 2, 3},
	} {
		if got := revisions(numbers); got != want {
			t.Errorf("revisions(%v) = %s, want %s", numbers, got, want)
		}
	}
}

// In Markdown the impact and the values below it are one list: an empty line between them
// would make GitHub space out all of its items.
func TestNotesAreOneListInMarkdown(t *testing.T) {
	p := &plan.Document{Operation: plan.Upgrade, Options: plan.Options{ServerSide: true}}
	p.Impact.Images = []plan.ImageChange{{From: "web:1", To: "web:2"}}
	var b bytes.Buffer
	if err := Markdown(&b, p, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n\n- images: `web 1 → 2`\n- with: `server-side apply`\n"; !strings.Contains(b.String(), want) {
		t.Errorf("there is no %q:\n%s", want, b.String())
	}
}
