package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// setMarker returns the first line of Markdown's output for a set, by which a bot finds its comment.
// name distinguishes sets; "" means the files that declare the set. Each environment and selection
// of a set has a comment of its own.
func setMarker(d *releaseset.Document, name string) string {
	if name == "" {
		name = strings.Join(d.Files, ", ")
	}
	return markerOf(strings.TrimSpace("set " + name + " " + d.Selection()))
}

// SetMarkdown prints the plan of a set as one comment: first the table, in at most two fifths of
// the budget, then the details in order of risk. Each gets the room it needs or a fair share; what
// one does not use goes to the others. What is not shown is counted, and is in Rest if that is
// given. It prints secrets when the plans hold them. Errors are those of w and of Rest.
func SetMarkdown(w io.Writer, d *releaseset.Document, o MarkdownOptions) error {
	p := newSetPage(d)
	budget := cmp.Or(o.Budget, DefaultBudget)
	const small = 4000 // in a comment that has no room for much else, the table may fill it
	m := markdown{budget: max(budget*2/5, min(budget, small))}
	if o.Rest != nil {
		m.restName = code(escape.Line(o.RestName))
	}
	m.setHead(setMarker(d, o.Marker), d, p)
	shown := m.setTable(p)
	m.budget = max(m.budget, budget*3/5)
	m.matrices(p.matrices, p.alike)
	m.budget = budget
	if p.rest != "" {
		m.add("\n<sub>" + inline(p.rest) + "</sub>\n")
	}
	details, err := setDetails(p.rows, budget-m.Len()-reserve)
	if err != nil {
		return err
	}
	short := map[int]bool{}
	for _, detail := range details {
		m.WriteString(detail.text)
		short[detail.id] = detail.cut
	}
	missing := 0
	for i, r := range p.rows {
		if i >= shown || short[r.id] {
			missing += 1 + len(r.like)
		}
	}
	if missing > 0 {
		m.WriteString("\n**Not shown in full, for lack of room: " + Count(missing, "release", "releases") + ".**" + m.there(" They are in ", ".") + "\n")
	}
	if o.Rest != nil {
		if err := setRest(o.Rest, p, m.rest.String()); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, m.String())
	return err
}

// setHead prints what comes before the table. The title and the risks are always there.
func (m *markdown) setHead(first string, d *releaseset.Document, p *setPage) {
	m.WriteString(first + "\n")
	fmt.Fprintf(m, "<!-- head=%s base=%s set=%s -->\n", escape.Line(d.Head), escape.Line(d.Base), d.Digest)
	m.WriteString(effectLine(d.Summary.Objects, d.Summary.Objects.Blocking+d.Summary.Failed, setEffects(d)...))
	m.WriteString("### " + inline(p.title) + "\n\n")
	if p.dangers != "" {
		m.WriteString("**" + inline(p.dangers) + "**\n\n")
	}
	whole := m.budget
	m.budget /= 2 // the other half is the table's
	m.reviews(p.reviews)
	if len(p.reviews) > 0 {
		m.add("\n")
	}
	m.setNotices("CAUTION", p.unread)
	m.setNotices("NOTE", p.warnings)
	m.budget = whole
}

// setNotices prints an alert for each text, and counts those for which there is no room.
func (m *markdown) setNotices(kind string, texts []string) {
	for i, text := range texts {
		if m.add("> [!" + kind + "]\n> " + inline(text) + "\n\n") {
			continue
		}
		m.WriteString("> [!" + kind + "]\n> … and " + Count(len(texts)-i, "more notice", "more notices") + "\n\n")
		for _, left := range texts[i:] {
			m.rest.WriteString("- " + inline(left) + "\n")
		}
		return
	}
}

// setRest prints what is left out of the head, and all details in full.
func setRest(w io.Writer, p *setPage, head string) error {
	const all = 64 << 20
	details, err := setDetails(p.each, all)
	if err != nil {
		return err
	}
	text := "### " + inline(p.title) + ": in full\n"
	if head != "" {
		text += "\n" + head
	}
	for _, detail := range details {
		text += detail.text
	}
	_, err = io.WriteString(w, text)
	return err
}
