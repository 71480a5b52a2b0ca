package report

import (
	"fmt"
	"strings"
)

// omit records something that does not fit: its name for the comment, its text for the rest.
func (m *markdown) omit(name, text string) {
	m.omitted = append(m.omitted, name)
	m.rest.WriteString(text)
}

// end says what is missing, and where to find it.
func (m *markdown) end() {
	switch {
	case len(m.omitted) > 0:
		const names = 5
		text := fmt.Sprintf("\n**Not shown, for lack of room: %s.**%s\n", list(m.omitted, names), m.there(" It is in ", "."))
		if m.Len()+len(text) > m.budget {
			text = fmt.Sprintf("\n**Not shown, for lack of room: %d parts.**\n", len(m.omitted))
		}
		m.WriteString(text)
	case m.rest.Len() > 0:
		m.add(m.there("\nWhat is cut short here is complete in ", ".\n"))
	}
}

// there says where the rest is, "" when it goes nowhere.
func (m *markdown) there(before, after string) string {
	if m.restName == "" {
		return ""
	}
	return before + m.restName + after
}

// restPage returns the page with everything that did not fit into the comment.
func (m *markdown) restPage(p *page) string {
	rest := strings.TrimSpace(m.rest.String())
	if rest == "" {
		rest = "Nothing was left out of the comment."
	}
	return "### " + inline(p.title) + ": what does not fit in the comment\n\n" + rest + "\n"
}
