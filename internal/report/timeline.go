package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// timeline lists the hooks that run, one after the other.
type timeline struct {
	rows []hookRow
	// last is how long the hooks took in their last runs, as far as that is known; known is the
	// number of hooks for which it is.
	last  time.Duration
	known int
}

// hookRow is a hook that runs.
type hookRow struct{ event, name, what, took, failure string }

// hookHeads returns the headings of a timeline's columns.
func hookHeads() []string { return []string{"When", "Hook", "What happens", "Took", "If it fails"} }

// lines returns the timeline's rows as texts.
func (t timeline) lines() [][]string {
	var out [][]string
	for _, r := range t.rows {
		out = append(out, []string{r.event, r.name, r.what, cmp.Or(r.took, "–"), r.failure})
	}
	return out
}

// timelineOf lists the hooks of a plan in the order in which they run.
func timelineOf(p *plan.Document, names namer) timeline {
	w := entryWriter{plan: p, names: names, rooms: roomsOf(p)}
	var t timeline
	changed := false // whether resources have been changed by then
	p.Steps(func(stage plan.StageName, s *plan.Step) {
		changed = changed || stage == plan.StageResources
		if s.Op != plan.OpRun || s.Hook == nil {
			return
		}
		row := hookRow{event: escape.Line(string(s.Hook.Event)), name: names.name(s.Object), what: w.hookText(s), took: runsText(s.Hook.Runs), failure: failureOf(p, changed)}
		t.rows = append(t.rows, row)
		if len(s.Hook.Runs) > 0 {
			t.last += s.Hook.Runs[0].Took
			t.known++
		}
	})
	return t
}

// runsText returns text such as "12s (revision 7), 11s (revision 6)".
func runsText(runs []release.Run) string {
	var out []string
	for _, r := range runs {
		out = append(out, fmt.Sprintf("%s (revision %d)", took(r), r.Revision))
	}
	return strings.Join(out, ", ")
}

// failureOf says what happens if a hook fails, before or after the resources are changed.
func failureOf(p *plan.Document, changed bool) string {
	switch {
	case p.Operation == plan.Test:
		return "the test has failed"
	case !changed:
		return "no resource has been changed"
	case p.OnFailure != nil && p.OnFailure.Rollback != nil:
		return "the resources are changed back"
	}
	return "the resources stay changed"
}

// title returns text such as "Timeline of the hooks: 3, of which 2 took 23s when they last ran".
func (t timeline) title() string {
	text := fmt.Sprintf("Timeline of the hooks: %d", len(t.rows))
	if t.known > 0 {
		text += fmt.Sprintf(", of which %d took %s when they last ran", t.known, took(release.Run{Took: t.last}))
	}
	return text
}

// timeline prints the hooks' timeline, folded.
func (m *markdown) timeline(t timeline) {
	if len(t.rows) == 0 {
		return
	}
	text := "\n<details><summary>" + inHTML(t.title()) + "</summary>\n\n" + table(hookHeads(), t.lines()) + "\n</details>\n"
	if !m.add(text) {
		m.omit("the timeline of the hooks", text)
	}
}

// timeline prints the hooks' timeline, folded.
func (h *htmlWriter) timeline(t timeline) {
	if len(t.rows) == 0 {
		return
	}
	h.WriteString("<details><summary>")
	h.tag("span", "", t.title())
	h.WriteString("</summary>\n")
	h.table(hookHeads(), t.lines())
	h.WriteString("</details>\n")
}
