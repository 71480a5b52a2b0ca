package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	entryIndent = 5 // "   ~ "
	rowIndent   = 7 // "     ≠ "
	valueIndent = 9 // below a row
	gap         = 2
	narrowest   = 24 // the least width of the column of paths
)

// measure determines the columns that all sections share. If not all fit, values are printed on
// lines of their own.
func (t *textWriter) measure(sections []section) {
	limit := t.columns * 2 / 5
	rows, values := 0, 0
	for _, s := range sections {
		if s.text != "" {
			t.names = max(t.names, min(width(s.name)-2, limit))
		}
		for _, e := range s.entries {
			if e.detail != "" {
				t.names = max(t.names, min(width(e.name), limit))
			}
			for _, r := range e.rows {
				rows = max(rows, width(r.path))
				if n := width(t.what(r)); n <= limit {
					values = max(values, n)
				}
				t.causes = max(t.causes, min(width(r.cause), t.columns/3))
			}
		}
	}
	t.names += gap
	t.paths = rows
	if !t.full {
		t.paths = min(rows, max(narrowest, t.room(0)-values))
	}
	t.values = min(values, t.room(t.paths))
}

// room returns the width for the values of a change beside paths of the given width.
func (t *textWriter) room(paths int) int {
	return max(t.columns-rowIndent-paths-2*gap-t.causes, 10)
}

// what returns the middle column of a change: its values, or how much of a text changes. It is at most
// as wide as a line.
func (t *textWriter) what(r row) string {
	if t.full {
		return r.values(0)
	}
	return r.values(t.columns - valueIndent)
}

func (t *textWriter) section(number int, s section) {
	head := fmt.Sprintf("%-2d %s", number, s.name)
	if s.text != "" && len(s.entries)+len(s.folded) == 0 {
		column := entryIndent + t.names
		t.wrapped(pad(head, column), s.text, strings.Repeat(" ", column))
		return
	}
	t.line(head)
	for _, e := range s.entries {
		t.entry(e)
	}
	if s.text != "" {
		t.wrapped("   ", s.text, "     ")
	}
	if s.hidden != "" {
		t.line("   … " + s.hidden + " (--full)")
	}
	for _, line := range s.folded {
		t.wrapped("   ", line, "     ")
	}
}

// entry prints a step: sign, name and what happens, then its changes.
func (t *textWriter) entry(e entry) {
	as := styleOf(e.op)
	head := "   " + t.paint(as, mark(e.op)) + " " + t.paint(as, e.name)
	beside, below := t.detail(e)
	t.line(head + beside)
	for _, line := range below {
		t.line(line)
	}
	t.rows(e)
	for _, line := range e.body() {
		t.line("       " + t.paint(as, line))
	}
}

// detail returns what happens to an object: beside its name if it fits into one line there, in the
// common column if possible; else below the name.
func (t *textWriter) detail(e entry) (beside string, below []string) {
	if e.detail == "" {
		return "", nil
	}
	indent := strings.Repeat(" ", valueIndent)
	below = Wrap(indent, e.detail, indent+"  ", t.columns)
	if gapped := strings.Repeat(" ", gap) + e.detail; width(e.name)+gap > t.names {
		if entryIndent+width(e.name+gapped) <= t.columns {
			return gapped, nil
		}
		return "", below
	}
	column := strings.Repeat(" ", entryIndent+t.names)
	lines := Wrap(column, e.detail, column+"  ", t.columns)
	tooWide := func(line string) bool { return width(line) > t.columns }
	if len(lines) > len(below) || slices.ContainsFunc(lines, tooWide) {
		return "", below
	}
	return lines[0][entryIndent+width(e.name):], lines[1:]
}

func (t *textWriter) rows(e entry) {
	for _, r := range e.rows {
		t.row(r)
	}
	if e.hiddenRows > 0 {
		t.line(strings.Repeat(" ", rowIndent) + "… " + Count(e.hiddenRows, "more change", "more changes") + " (--full)")
	}
}

// cause returns a row's cause as far as there is room: that it is drift, the row's sign says, too.
func (t *textWriter) cause(r row) string {
	text := r.cause
	if r.change.Cause == plan.CauseDrift && width(text) > t.causes {
		text = strings.TrimPrefix(text, string(plan.CauseDrift)+", ")
	}
	return cutMiddle(text, t.causes)
}

// row prints path, values and cause. Values that are too wide for their column follow the path
// directly, or go on a line of their own if that is too wide, too.
func (t *textWriter) row(r row) {
	sign := " "
	if r.change.Cause == plan.CauseDrift {
		sign = t.paint(changed, "≠")
	}
	path, cause, what, below := r.path, r.cause, t.what(r), ""
	if !t.full {
		path, cause = shortPath(path, t.columns-rowIndent), t.cause(r)
	}
	beside, room := max(width(path), t.paths), t.columns-rowIndent-2*gap-width(cause)-width(what)
	switch {
	case beside <= room:
	case width(path) <= room: // values follow the path, outside of their column
		beside = width(path)
	default:
		what, below = "", what
	}
	line, faded := pad(path, beside+gap)+what, t.paint(faint, cause)
	if cause != "" {
		line = pad(line, max(t.paths+t.values+2*gap, width(line)+gap))
	}
	if below != "" && rowIndent+width(line)+width(cause) > t.columns { // the cause goes to the line of the values
		below = r.values(t.columns-valueIndent-gap-width(cause)) + strings.Repeat(" ", gap) + faded
		faded = ""
	}
	t.line("     " + sign + " " + line + faded)
	if below != "" {
		t.line(strings.Repeat(" ", valueIndent) + below)
	}
	t.diff(r)
}

func (t *textWriter) diff(r row) {
	indent := strings.Repeat(" ", valueIndent)
	for _, line := range r.diff {
		switch line.kind {
		case '@':
			t.line(indent + t.paint(faint, "@ "+line.text))
		case '+':
			t.line(indent + t.paint(fresh, "+ "+line.text))
		case '-':
			t.line(indent + t.paint(bad, "- "+line.text))
		default:
			t.line(indent + "  " + line.text)
		}
	}
	if left := r.left(r.diff); left != "" {
		t.line(indent + "… " + left + " (--full)")
	}
}
