package report

import (
	"fmt"
	"strings"
)

// table returns the matrix's headings and lines; the last line has the reasons, if there are any.
func (m matrix) table() (heads []string, lines [][]string) {
	const shown = 12
	heads = append([]string{""}, m.columns...)
	for i, row := range m.rows {
		if i == shown {
			more := make([]string, len(heads))
			more[0] = fmt.Sprintf("… %d more", len(m.rows)-shown)
			lines = append(lines, more)
			break
		}
		lines = append(lines, append([]string{row.what}, row.cells...))
	}
	if strings.Join(m.reasons, "") != "" {
		lines = append(lines, append([]string{"what differs there"}, m.reasons...))
	}
	return heads, lines
}

// title returns text such as "web and 3 others: 2 changes differ, 5 are the same".
func (m matrix) title() string {
	text := m.name
	if len(m.like) > 0 {
		text += " and " + Count(len(m.like), "other", "others")
	}
	text += ": " + Count(len(m.rows), "change differs", "changes differ")
	if m.alike > 0 {
		text += ", " + Count(m.alike, "is the same", "are the same")
	}
	return text
}

const matricesTitle = "Where clusters differ"

// matrices prints what differs from cluster to cluster.
func (m *markdown) matrices(all []matrix, alike []string) {
	if len(all) > 0 {
		m.add("\n#### " + matricesTitle + "\n")
	}
	for i, x := range all {
		heads, lines := x.table()
		text := "\n<details open><summary>" + inHTML(x.title()) + "</summary>\n\n"
		if len(x.like) > 0 {
			text += "Same for: " + codes(x.like, 40) + "\n\n"
		}
		if !m.add(text + table(heads, lines) + "\n</details>\n") {
			m.add("\n<sub>" + inline(Count(len(all)-i, "more release differs", "more releases differ")+" from cluster to cluster.") + "</sub>\n")
			break
		}
	}
	if len(alike) > 0 {
		const shown = 10
		m.add("\n<sub>" + inline(Count(len(alike), "release changes", "releases change")+" in the same way in each cluster or namespace: "+list(alike, shown)+".") + "</sub>\n")
	}
}

// table returns a Markdown table of texts.
func table(heads []string, lines [][]string) string {
	var b strings.Builder
	b.WriteString(tableHead(heads))
	for _, line := range lines {
		b.WriteString(tableLine(line))
	}
	return b.String()
}

func tableHead(heads []string) string {
	return tableLine(heads) + strings.Repeat("| --- ", len(heads)) + "|\n"
}

func tableLine(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = inline(text)
	}
	return "| " + strings.Join(out, " | ") + " |\n"
}

// matrices prints what differs from cluster to cluster.
func (h *htmlWriter) matrices(all []matrix) {
	if len(all) > 0 {
		h.tag("h2", "", matricesTitle)
	}
	for _, x := range all {
		heads, lines := x.table()
		h.WriteString("<details open><summary>")
		h.tag("span", "", x.title())
		h.WriteString("</summary>\n")
		if len(x.like) > 0 {
			h.tag("p", "facts", "Same for: "+strings.Join(x.like, ", "))
		}
		h.table(heads, lines)
		h.WriteString("</details>\n")
	}
}

// table prints a table of texts.
func (h *htmlWriter) table(heads []string, lines [][]string) {
	h.WriteString("<table><thead><tr>")
	for _, head := range heads {
		h.tag("th", "", head)
	}
	h.WriteString("</tr></thead>\n")
	for _, line := range lines {
		h.WriteString("<tr>")
		for _, cell := range line {
			h.tag("td", "", cell)
		}
		h.WriteString("</tr>\n")
	}
	h.WriteString("</table>\n")
}
