package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// SetMarker returns the first line of Markdown's output for a set, by which a bot finds its comment.
// name distinguishes sets; "" means the files that declare the set. Each environment and selection
// of a set has a comment of its own.
func SetMarker(d *releaseset.Document, name string) string {
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
	m := markdown{budget: budget * 2 / 5}
	if o.Rest != nil {
		m.restName = code(escape.Line(o.RestName))
	}
	m.setHead(SetMarker(d, o.Marker), d, p)
	shown := m.setTable(p)
	m.budget = budget * 3 / 5
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
		m.WriteString("\n**Not shown in full, for lack of room: " + count(missing, "release", "releases") + ".**" + m.there(" They are in ", ".") + "\n")
	}
	if o.Rest != nil {
		if err := setRest(o.Rest, p); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, m.String())
	return err
}

func (m *markdown) setHead(first string, d *releaseset.Document, p *setPage) {
	m.add(first + "\n")
	m.add(fmt.Sprintf("<!-- head=%s base=%s set=%s -->\n", escape.Line(d.Head), escape.Line(d.Base), d.Digest))
	counts := d.Summary.Objects
	counts.Blocking += d.Summary.Failed
	m.add(effectLine(counts, setEffects(d)...))
	m.add("### " + inline(p.title) + "\n\n")
	if p.dangers != "" {
		m.add("**" + inline(p.dangers) + "**\n\n")
	}
	m.reviews(p.reviews)
	if len(p.reviews) > 0 {
		m.add("\n")
	}
	for _, text := range p.unread {
		m.add("> [!CAUTION]\n> " + inline(text) + "\n\n")
	}
	for _, text := range p.warnings {
		m.add("> [!NOTE]\n> " + inline(text) + "\n\n")
	}
}

// setTable prints a row for each release, the gravest first, and returns how many rows fit.
func (m *markdown) setTable(p *setPage) (shown int) {
	if len(p.rows) == 0 {
		return 0
	}
	heads := p.heads()
	m.add(tableHead(heads))
	const some = 3
	for i, r := range p.rows {
		if !m.add(r.markdown(len(heads), len(r.like))) && !m.add(r.markdown(len(heads), some)) {
			return i
		}
	}
	return len(p.rows)
}

// heads returns the headings of the table.
func (p *setPage) heads() []string {
	out := []string{"Release", "Operation", "Chart", "Objects", "Risks and notes"}
	if p.digests {
		out = append(out, "Digest")
	}
	return out
}

// markdown returns the row with that many columns, and that many names of the releases that share it.
func (r setRow) markdown(columns, names int) string {
	notes := inline(r.risks)
	if notes != "" {
		notes = "**" + notes + "**"
	}
	if r.notes != "" {
		notes = strings.TrimPrefix(notes+"<br>", "<br>") + inline(r.notes)
	}
	name := code(r.name)
	if len(r.like) > 0 {
		name += "<details><summary>" + r.others()[1:] + "</summary>" + codes(r.otherNames(), names) + "</details>"
	}
	// A pipe ends a cell even in code: https://github.github.com/gfm/#example-200
	name = strings.ReplaceAll(name, "|", `\|`)
	op := inline(r.op)
	if r.Blocked() {
		op = "❌ " + op
	}
	digest := r.shortDigest()
	if digest != "" {
		digest = code(digest)
	}
	// In a narrow window only the notes are wrapped, so rows stay short.
	whole := strings.NewReplacer(" ", "\u00a0")
	return "| " + strings.Join([]string{name, op, whole.Replace(inline(r.chart)), whole.Replace(inline(r.objects)), notes, digest}[:columns], " | ") + " |\n"
}

// setRest prints all details in full.
func setRest(w io.Writer, p *setPage) error {
	const all = 64 << 20
	details, err := setDetails(p.each, all)
	if err != nil {
		return err
	}
	text := "### " + inline(p.title) + ": in full\n"
	for _, detail := range details {
		text += detail.text
	}
	_, err = io.WriteString(w, text)
	return err
}
