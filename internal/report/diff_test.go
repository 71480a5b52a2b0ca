package report

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A removed and a new line never look the same: what can't be seen is shown where it is all that differs,
// and only there.
func TestDiffsShowWhatCantBeSeen(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"line endings": {"a\nb\n", "a\r\nb\r\n", `@line 1|-a|-b|+a\r|+b\r`},
		"tabs":         {"a:\n  b\n", "a:\n\tb\n", `@line 1| a:|-  b|+\tb`},
		"blanks":       {"a\nb \n", "a\nb\n", `@line 1| a|-b\x20|+b`},
		"both ends":    {"a\nb  \n", "a\nb \r\n", `@line 1| a|-b\x20\x20|+b\x20\r`},
		"other text":   {"a\r\n\tb \r\n", "a\r\n\tc \r\n", `@line 1| a|-  b |+  c `},
		"moved":        {"\ta\nb\nc\n", "b\nc\n\ta\n", `@line 1|-  a| b| c|+  a`},
		"no newline":   {"a\nb\n", "a\nb", `@line 1| a|-b|+b|\(no newline at the end)`},
		"removed":      {"a\nb\n", "", `@line 1|-a|-b`},
		"same":         {"a\nb\n", "a\nb\n", ""},
		"added":        {"", "a\nb\n", `@line 1|+a|+b`},
		"one of two":   {"a\nx\ny\na\r\n", "x\ny\na\n", `@line 1|-a| x| y|-a\r|+a`},
	} {
		lines, err := textDiff(plan.Change{From: c.from, To: c.to}, 3)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range lines {
			got = append(got, string(line.kind)+line.text)
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.want)
		}
	}
}

// Of a long line, such as a file without line breaks, what differs is shown, and all of it if that was asked for.
func TestLongLinesOfDiffsAreCut(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	c := plan.Change{Path: "data.t", From: "a\n" + long + "key: old" + long + "\n" + long + "\n", To: "a\n" + long + "key: new" + long + "\n" + long + "\n"}
	for _, full := range []bool{false, true} {
		r, err := entryWriter{view: view{full: full, context: 3, line: longLine}}.row(repeated{Change: c})
		if err != nil {
			t.Fatal(err)
		}
		if r.tally != "text, +1 −1 lines" {
			t.Error(r.tally)
		}
		for _, line := range r.diff {
			if n := width(line.text); n > longLine && !full || n < longLine && full && n > len("line 1") {
				t.Errorf("full is %v: a line has %d characters", full, n)
			}
			if line.kind == '-' && !strings.Contains(line.text, "key: old") || line.kind == '+' && !strings.Contains(line.text, "key: new") {
				t.Errorf("full is %v: the difference is not in %c%.100s", full, line.kind, line.text)
			}
		}
	}
}

// A key that is new or goes is told from a text that grows or is emptied, and of a text that becomes something
// else, or the reverse, both are shown.
func TestTextsThatAreAddedOrRemoved(t *testing.T) {
	for want, c := range map[string]plan.Change{
		"added: text, 2 lines":              {To: "a\nb\n"},
		"removed (was text, 3 lines)":       {From: "a\nb\nc"},
		"text, +2 −0 lines":                 {From: "", To: "a\nb\n"},
		"text, +0 −1 lines":                 {From: "a\nb\n", To: "b\n"},
		"text, +2 −1 lines (and 1 like it)": {From: "a", To: "b\nc\n"},
		`"a\nb\n" → {run: evil}`:            {From: "a\nb\n", To: map[string]any{"run": "evil"}},
		`1 → "a\nb\n"`:                      {From: 1, To: "a\nb\n"},
	} {
		like := strings.Count(want, "like it")
		r, err := entryWriter{}.row(repeated{Change: c, like: like})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.values(0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What differs is shown also where removed and new lines don't pair: behind the mark of a missing newline,
// behind a new line, and of values of one line in a comment.
func TestWhatDiffersInLongLinesIsShown(t *testing.T) {
	long := strings.Repeat("x", 600)
	for name, c := range map[string]plan.Change{
		"no newline": {From: "a\n" + long + "key: old", To: "a\n" + long + "key: new"},
		"new header": {From: "a\n" + long + "key: old\n", To: "a\n// new\n" + long + "key: new\n"},
		"two of one": {From: "a\n" + long + "key: old\n", To: "a\n" + long[1:] + "\n" + long + "key: new\n"},
		"one line":   {From: long + "key: old", To: long + "key: new"},
		"wide":       {From: strings.Repeat("値", 300) + "key: old", To: strings.Repeat("値", 300) + "key: new"},
	} {
		r, err := entryWriter{view: view{context: 3, line: longLine}}.row(repeated{Change: c})
		if err != nil {
			t.Fatal(err)
		}
		if text := rowText(r); !strings.Contains(text, "key: old") || !strings.Contains(text, "key: new") {
			t.Errorf("%s: the difference is not shown:\n%s", name, text)
		}
	}
}

// Lines that are cut are counted, and whole where the rest of a comment goes.
func TestLinesThatAreCutAreCounted(t *testing.T) {
	long := strings.Repeat("x", 600) + "the end"
	id := manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	for name, c := range map[string]plan.Change{"text": {To: "a\n" + long + "\n"}, "value": {To: long}} {
		c.Path = "data.page"
		step := plan.Step{ID: "s1", Object: id, Op: plan.OpPatch, Changes: []plan.Change{c}}
		p := &plan.Document{Operation: plan.Upgrade, Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}}
		p.Summary = summarize(p)
		var text, comment, rest strings.Builder
		if err := Markdown(&comment, p, MarkdownOptions{Rest: &rest, RestName: "rest.md"}); err != nil {
			t.Fatal(err)
		}
		for _, told := range []string{"# … 1 line cut short\n", "complete in `rest.md`"} {
			if !strings.Contains(comment.String(), told) {
				t.Errorf("%s: the comment does not say %q:\n%s", name, told, comment.String())
			}
		}
		if !strings.Contains(rest.String(), "the end") {
			t.Errorf("%s: the line is not whole in the rest:\n%.300s", name, rest.String())
		}
		if err := Text(&text, p, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if told := "… 1 line cut short (--full)"; name == "text" && !strings.Contains(text.String(), told) {
			t.Errorf("the text does not say %q:\n%s", told, text.String())
		}
	}
	c := plan.Change{Path: "data.page", To: "a\n" + strings.Repeat(long, htmlValue/len(long)+1)}
	step := plan.Step{ID: "s1", Object: id, Op: plan.OpPatch, Changes: []plan.Change{c}}
	var page strings.Builder
	if err := HTML(&page, &plan.Document{Stages: []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}}); err != nil {
		t.Fatal(err)
	}
	if told := "… 1 line cut short (-o json shows all)"; !strings.Contains(page.String(), told) {
		t.Errorf("the page does not say %q", told)
	}
}
