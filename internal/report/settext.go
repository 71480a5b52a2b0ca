package report

import (
	"cmp"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// SetText prints the plan of a set for people: a table, the most severe first, then, unless
// o.Summary is set, each plan that is blocked or changes something, as Text prints it.
// It prints secrets when the plans hold them. Errors are those of w.
func SetText(w io.Writer, d *releaseset.Document, o TextOptions) error {
	p := newSetPage(d)
	t := textWriter{palette: palette{on: o.Color}, columns: max(cmp.Or(o.Width, 120), 40)}
	t.line(t.paint(strong, p.title))
	if p.dangers != "" {
		t.line(t.paint(bad, p.dangers))
	}
	for _, text := range p.unread {
		t.line(t.paint(bad, "✗") + " " + text)
	}
	if len(p.rows) > 0 {
		t.line("")
		t.table(p.rows, o.Width > 0)
	}
	if p.rest != "" {
		t.line("")
		t.line(t.paint(faint, p.rest))
	}
	for _, text := range p.warnings {
		t.line(t.paint(changed, "!") + " " + text)
	}
	if _, err := io.WriteString(w, t.String()); err != nil || o.Summary {
		return err
	}
	for i := range d.Releases {
		r := &d.Releases[i]
		if r.Plan == nil || !r.Blocked() && r.Plan.Effect() == plan.EffectNone {
			continue
		}
		title := strings.Repeat("─", 3) + " " + newSetRow(r).name + " "
		rule := strings.Repeat("─", max(0, t.columns-width(title)))
		if _, err := io.WriteString(w, "\n"+title+rule+"\n"); err != nil {
			return err
		}
		if err := Text(w, r.Plan, o); err != nil {
			return err
		}
	}
	return nil
}

// table prints rows in columns; notes, which may be long, are on lines of their own, and so are risks in a
// terminal if they do not all fit into the last column.
func (t *textWriter) table(rows []setRow, terminal bool) {
	heads := []string{"RELEASE", "OPERATION", "CHART", "OBJECTS", "RISKS"}
	cells := func(r setRow) []string {
		return []string{r.name + r.others(), r.op, r.chart, r.objects, r.risks}
	}
	widths, all := make([]int, len(heads)), -gap
	for i, head := range heads {
		widths[i] = width(head)
		for _, r := range rows {
			widths[i] = max(widths[i], width(cells(r)[i]))
		}
		all += widths[i] + gap
	}
	columns := len(heads)
	if terminal && all > t.columns {
		columns--
	}
	line := func(cells []string) string {
		var b strings.Builder
		for i, cell := range cells[:columns] {
			b.WriteString(pad(cell, widths[i]+gap))
		}
		return strings.TrimRight(b.String(), " ")
	}
	t.line(t.paint(faint, line(heads)))
	for _, r := range rows {
		lines := []string{line(cells(r))}
		if columns < len(heads) && r.risks != "" {
			lines = append(lines, Wrap("  ", r.risks, "  ", t.columns)...)
		}
		for _, text := range lines {
			if r.Blocked() || r.risks != "" {
				text = t.paint(bad, text)
			}
			t.line(text)
		}
		if len(r.like) > 0 {
			t.wrapped("  ", "also "+strings.Join(r.otherNames(), ", "), "  ")
		}
		if r.notes != "" {
			t.wrapped("  ", r.notes, "  ")
		}
	}
}
