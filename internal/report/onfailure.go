package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// ending describes what happens when a plan's run fails.
type ending struct {
	text string
	// point is the stage and step from which the run can no longer be undone completely, "" if
	// there is none.
	point string
	// lasting is what the rollback does not undo; hidden is how many of these were left out.
	lasting []notice
	hidden  int
}

// endingOf describes a plan's failure path; nil when all that happens is that the revision is recorded as
// failed, or when only some objects are shown.
func endingOf(p *plan.Document, v view, names namer) *ending {
	f := p.OnFailure
	if f == nil || len(v.only) > 0 {
		return nil
	}
	var parts []string
	if n := cleanups(f); n > 0 {
		parts = append(parts, "delete what this run created (at most "+Count(n, "object", "objects")+")")
	}
	if old := prunedOnFailure(f); len(old) > 0 {
		parts = append(parts, "remove "+revisions(old)+" from the history")
	}
	switch {
	case f.Rollback != nil:
	case p.Options.Atomic:
		return &ending{text: strings.Join(append(parts, "nothing is rolled back: there is no successful revision to roll back to"), "; ")}
	case len(parts) == 0:
		return nil
	default:
		return &ending{text: strings.Join(parts, ", then ")}
	}
	out := &ending{text: strings.Join(append(parts, wayBack(f.Rollback)), ", then ")}
	for _, l := range f.Rollback.Lasting {
		out.lasting = append(out.lasting, notice{name: names.name(l.Object), text: escape.Message(l.What)})
	}
	effect := func(l plan.Lasting) bool { return l.Step != "" }
	if i := slices.IndexFunc(f.Rollback.Lasting, effect); i >= 0 {
		out.point = pointOfNoReturn(p, f.Rollback.Lasting[i], names)
	}
	const shown = 8
	if !v.full && v.entries > 0 && len(out.lasting) > shown {
		out.hidden = len(out.lasting) - shown
		out.lasting = out.lasting[:shown]
	}
	return out
}

// pointOfNoReturn returns text such as "Job/web-migrate in pre-upgrade hooks: until then everything
// is undone", for the first step with a lasting effect.
func pointOfNoReturn(p *plan.Document, first plan.Lasting, names namer) string {
	where := ""
	p.Steps(func(stage plan.StageName, s *plan.Step) {
		if s.ID == first.Step {
			where = escape.Line(string(stage))
		}
	})
	return names.name(first.Object) + " in " + where + ": until then everything is undone"
}

func cleanups(f *plan.OnFailure) int {
	n := 0
	onFailure(f, func(s *plan.Step) {
		if s.Op == plan.OpDelete {
			n++
		}
	})
	return n
}

// prunedOnFailure returns the revisions that a failed run removes.
func prunedOnFailure(f *plan.OnFailure) []int {
	var out []int
	onFailure(f, func(s *plan.Step) {
		if s.Record != nil {
			out = append(out, s.Record.Prune...)
		}
	})
	return out
}

func onFailure(f *plan.OnFailure, visit func(*plan.Step)) {
	for _, stage := range f.Stages {
		for _, wave := range stage.Waves {
			for i := range wave.Steps {
				visit(&wave.Steps[i])
			}
		}
	}
}

// wayBack returns text such as "roll back to revision 7: 1 to delete, 2 to change; 1 hook".
func wayBack(r *plan.RollbackPreview) string {
	text := fmt.Sprintf("roll back to revision %d", r.To)
	if r.To == 0 {
		text = "uninstall what was installed"
	}
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{
		{r.Recreate, "to recreate"},
		{r.Delete, "to delete"},
		{r.Patch, "to change back"},
		{r.Create, "to create again"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if r.Hooks > 0 {
		text += "; " + Count(r.Hooks, "hook", "hooks")
	}
	return text
}

const (
	endingTitle  = "If it fails"
	lastingTitle = "not undone"
	pointTitle   = "Point of no return"
)

// ending prints the failure path below the stages.
func (t *textWriter) ending(e *ending) {
	if e == nil {
		return
	}
	t.line("")
	t.wrapped(endingTitle+": ", e.text, "  ")
	if e.point != "" {
		t.wrapped("   "+pointTitle+": ", e.point, "     ")
	}
	for _, n := range e.lasting {
		t.wrapped("   "+lastingTitle+": ", n.name+": "+n.text, "     ")
	}
	if e.hidden > 0 {
		t.line(fmt.Sprintf("   … %d more (--full)", e.hidden))
	}
}

func (m *markdown) ending(e *ending) {
	if e == nil {
		return
	}
	title := "\n#### " + endingTitle + "\n\n" + inline(e.text) + "\n"
	if !m.add(title) {
		m.omit("what happens on failure", title)
	}
	if e.point != "" {
		point := "\n**" + pointTitle + "**: " + inline(e.point) + "\n"
		if !m.add(point) {
			m.omit("the point of no return", point)
		}
	}
	full, rest, left := false, "\n#### "+endingTitle+"\n\n", 0
	for _, n := range e.lasting {
		line := "- " + lastingTitle + ": **" + inline(n.name) + "**: " + inline(n.text) + "\n"
		if full = full || !m.item(line); full {
			rest += line
			left++
		}
	}
	if left > 0 {
		m.omit(Count(left, "thing that is not undone", "things that are not undone"), rest)
	}
}

func (h *htmlWriter) ending(e *ending) {
	if e == nil {
		return
	}
	h.WriteString("<section>\n")
	h.tag("h2", "", endingTitle)
	h.tag("p", "", e.text)
	if e.point != "" {
		h.tag("p", "", pointTitle+": "+e.point)
	}
	for _, n := range e.lasting {
		h.WriteString(`<div class="entry">`)
		h.tag("span", "", lastingTitle+": ")
		h.tag("code", "", n.name)
		h.tag("span", "", " "+n.text)
		h.WriteString("</div>\n")
	}
	h.WriteString("</section>\n")
}
