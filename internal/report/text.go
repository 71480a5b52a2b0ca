package report

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// TextOptions say how a plan is printed as text.
type TextOptions struct {
	// Color colours text by its meaning: green is new, yellow changes, red is deleted, cyan is a
	// hook. Colour is never the only indication.
	Color bool
	// Width is the number of columns; 0 means 120, but as many as it takes for a set's table, and 40 is the minimum.
	Width int
	// Full omits nothing and prints created objects as YAML.
	Full bool
	// Summary prints only the header, the counts, problems and risks.
	Summary bool
	// Only prints objects that match one of these: "KIND" or "KIND/NAME",
	// where NAME may have wildcards.
	Only []string
	// Context is how many unchanged lines surround a change in a text; 0 means 3,
	// a negative number means none.
	Context int
}

// Text prints the plan for people. It prints secrets when the plan holds them:
// see redact.Plan. Errors are those of w.
func Text(w io.Writer, p *plan.Document, o TextOptions) error {
	t := textWriter{palette: palette{on: o.Color}, columns: cmp.Or(o.Width, 120)}
	t.columns = max(t.columns, 40)
	v := view{full: o.Full, bodies: o.Full, only: o.Only, context: max(cmp.Or(o.Context, 3), 0), rows: 12, lines: 24, entries: 40, line: longLine}
	page, err := newPage(p, v)
	if err != nil {
		return err
	}
	t.full = o.Full
	t.page(page, o.Summary)
	if page.footnote != "" {
		t.line("")
		for _, line := range Wrap("", page.footnote, "", t.columns) {
			t.line(t.paint(faint, line))
		}
	}
	_, err = io.WriteString(w, t.String())
	return err
}

// textWriter lays out a page in columns.
type textWriter struct {
	strings.Builder
	palette
	columns int
	full    bool
	// names is the width of the column of names; paths, values and causes are the widths of the
	// columns of changes.
	names, paths, values, causes int
}

func (t *textWriter) page(p *page, summary bool) {
	t.header(p)
	t.line("")
	if len(p.blocking) > 0 {
		t.line(t.paint(bad, "Blocked by "+Count(len(p.blocking), "problem", "problems")+"; nothing will be written:"))
		t.notices("✗", bad, p.blocking)
		t.line("")
	}
	if p.dangers != "" {
		t.line(t.paint(bad, p.dangers))
	}
	t.verdict(p.verdict)
	t.notes(append(reviewsNote(p.reviews), p.impact...), 6)
	if len(p.risks)+len(p.warnings) > 0 {
		t.line("")
		t.notices("!", bad, p.risks)
		t.notices("!", changed, p.warnings)
	}
	if summary || p.quiet() {
		return
	}
	t.line("")
	t.measure(p.sections)
	for i, s := range p.sections {
		t.section(i+1, s)
	}
	t.ending(p.ending)
}

// verdict prints the counts; if it needs two lines, one has the objects and one the hooks.
func (t *textWriter) verdict(text string) {
	objects, hooks, both := strings.Cut(text, "; ")
	if !both || width(text) <= t.columns {
		t.wrapped("", text, "  ")
		return
	}
	t.wrapped("", objects+";", "  ")
	t.wrapped("  ", hooks, "  ")
}

func (t *textWriter) header(p *page) {
	title := t.paint(strong, p.title)
	line := strings.Join(append([]string{p.title}, p.facts...), "    ")
	if width(line) <= t.columns {
		t.line(strings.Join(append([]string{title}, p.facts...), "    "))
	} else {
		t.line(title)
		for _, fact := range p.facts {
			t.line("  " + fact)
		}
	}
	t.notices("!", bad, p.foremost)
	t.notes(p.notes, 4)
}

// notes prints notes with their labels in one column, each in at most the given number of lines.
func (t *textWriter) notes(notes []note, lines int) {
	label := 6
	for _, n := range notes {
		label = max(label, width(n.label))
	}
	for _, n := range notes {
		t.note(n, label+2, lines)
	}
}

// note prints items after a label. Lines break between items, and within an item only if it is
// wider than a line.
func (t *textWriter) note(n note, label, maxLines int) {
	space := strings.Repeat(" ", label+2)
	prefix, line, lines := "  "+pad(n.label, label), "", 1
	flush := func() {
		for _, l := range Wrap(prefix, line, space, t.columns) {
			t.line(l)
		}
		prefix, line = space, ""
	}
	for i, item := range n.items {
		if i < len(n.items)-1 && !n.lines {
			item += ","
		}
		if line != "" && n.lines || line != "" && len(space)+width(line)+1+width(item) > t.columns {
			flush()
			if lines++; lines > maxLines && !t.full {
				line = "… " + strconv.Itoa(len(n.items)-i) + " more (--full)"
				break
			}
		}
		line = strings.TrimSpace(line + " " + item)
	}
	flush()
}

func (t *textWriter) notices(sign string, as style, notices []notice) {
	for _, n := range notices {
		text := n.text
		if n.name != "" {
			text = n.name + ": " + text
		}
		lines := Wrap("  ", text, "    ", t.columns)
		t.line(t.paint(as, sign) + lines[0][1:])
		for _, line := range lines[1:] {
			t.line(line)
		}
		if n.do != "" {
			t.wrapped("    → ", n.do, "      ")
		}
	}
}

func (t *textWriter) line(s string) {
	t.WriteString(strings.TrimRight(s, " "))
	t.WriteByte('\n')
}

// wrapped prints words on as many lines as needed; lines after the first are indented.
func (t *textWriter) wrapped(prefix, text, indent string) {
	for _, line := range Wrap(prefix, text, indent, t.columns) {
		t.line(line)
	}
}

// Wrap breaks text between words into lines of at most so many columns: the first one begins with prefix, the
// others with indent. Words that are wider than a line stay whole, and so do those with several blanks between them.
func Wrap(prefix, text, indent string, columns int) []string {
	var lines []string
	line, empty := prefix, true
	for rest := strings.TrimSpace(text); rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if !empty && width(line)+1+width(word) > columns {
			lines = append(lines, line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return append(lines, line)
}

// cutWord splits a text at its first blank that stands alone.
func cutWord(text string) (word, rest string) {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == ' ' && text[i-1] != ' ' && text[i+1] != ' ' {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
