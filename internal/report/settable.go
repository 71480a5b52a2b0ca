package report

import (
	"slices"
	"strings"
)

// setTable prints a row for each release, the most severe first, and returns how many rows fit. One last
// row counts and names the others.
func (m *markdown) setTable(p *setPage) (shown int) {
	if len(p.rows) == 0 {
		return 0
	}
	heads := p.heads()
	m.WriteString(tableHead(heads))
	left := make([]int, len(p.rows)+1) // what it takes to name all releases from a row on
	for i, r := range slices.Backward(p.rows) {
		left[i] = left[i+1] + len(codes(r.names(), allNames)) + len(", ")
	}
	most := m.budget / 4 // for these names
	for i, r := range p.rows {
		room := m.room() - min(left[i+1], most)
		row := r.markdown(len(heads), allNames)
		if len(row) > room {
			const some = 3
			row = r.markdown(len(heads), some)
		}
		if len(row) > room {
			m.WriteString(moreRow(p.rows[i:], len(heads), m.room()))
			return i
		}
		m.WriteString(row)
	}
	return len(p.rows)
}

// allNames is more names than there are.
const allNames = 1 << 30

// room returns how many bytes there are for what add adds.
func (m *markdown) room() int { return m.budget - reserve - m.Len() }

// moreRow returns a row that counts the releases of rows, and names as many of them as fit.
func moreRow(rows []setRow, columns, room int) string {
	var names []string
	for _, r := range rows {
		names = append(names, r.names()...)
	}
	row := func(text string) string { return "| " + text + strings.Repeat(" |", columns) + "\n" }
	text := "… and " + Count(len(names), "more", "more")
	named := ""
	for i, name := range names {
		next := named + map[bool]string{true: ": ", false: ", "}[i == 0] + cell(code(name))
		if len(row(text+next+", …")) > room {
			if named != "" {
				named += ", …"
			}
			break
		}
		named = next
	}
	return row(text + named)
}

// heads returns the headings of the table.
func (p *setPage) heads() []string {
	out := []string{"Release", "Operation", "Chart", "Objects", "Risks and notes"}
	if p.digests {
		out = append(out, "Digest")
	}
	return out
}

// names returns the names of the releases that share the row.
func (r setRow) names() []string { return append([]string{r.name}, r.otherNames()...) }

// cell returns text for a cell of a table: a pipe ends a cell even in code
// (https://github.github.com/gfm/#example-200).
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

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
	return "| " + strings.Join([]string{cell(name), op, whole.Replace(inline(r.chart)), whole.Replace(inline(r.objects)), notes, digest}[:columns], " | ") + " |\n"
}
