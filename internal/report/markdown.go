package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// MarkdownOptions say how a plan is printed for a pull request.
type MarkdownOptions struct {
	// Budget is how many bytes a comment may have; 0 is 65000. GitHub's limit
	// is 65536 characters.
	Budget int
}

// marker begins the comment that a bot looks for to update what it wrote.
const marker = "<!-- kubectl-release plan of "

// Marker is the first line of Markdown's output for a release. It stays the
// same from plan to plan.
func Marker(p *plan.Plan) string {
	name := strings.NewReplacer("--", "- -", ">", "", "<", "").Replace(clean(p.Release.String()))
	return marker + name + " -->"
}

// Markdown prints the plan for a pull request on GitHub or GitLab: problems,
// risks and what is destroyed first, all else to unfold. What does not fit the
// budget is named. It prints secrets when the plan holds them: see Redact.
// Errors are those of w.
func Markdown(w io.Writer, p *plan.Plan, o MarkdownOptions) error {
	page, err := newPage(p, view{bodies: true, context: 3, rows: 100, lines: 300})
	if err != nil {
		return err
	}
	m := markdown{budget: orDefault(o.Budget, 65000)}
	m.head(Marker(p), page)
	if !page.quiet() {
		m.details(page)
	}
	_, err = io.WriteString(w, m.String())
	return err
}

// markdown collects blocks until the budget is used up.
type markdown struct {
	strings.Builder
	budget int
	// omitted are the names of what did not fit.
	omitted []string
	// listing is set after an item of a list: the next needs no empty line.
	listing bool
}

// reserve is what is kept free for the sentence about what did not fit.
const reserve = 400

// add writes a block if it fits.
func (m *markdown) add(block string) bool {
	if m.Len()+len(block)+reserve > m.budget {
		return false
	}
	m.WriteString(block)
	m.listing = false
	return true
}

// item writes a line of a list if it fits.
func (m *markdown) item(line string) bool {
	if !m.listing {
		line = "\n" + line
	}
	if !m.add(line) {
		return false
	}
	m.listing = true
	return true
}

func (m *markdown) head(first string, p *page) {
	m.add(first + "\n")
	m.add("### " + inline(p.title) + "\n\n")
	if len(p.facts) > 0 {
		m.add(inline(strings.Join(p.facts, " · ")) + "\n\n")
	}
	if p.dangers != "" {
		m.add("**" + inline(p.dangers) + "**\n\n")
	}
	m.add("**" + inline(p.verdict) + "**\n")
	m.alert("CAUTION", "Blocked by "+count(len(p.blocking), "problem", "problems")+"; nothing will be written.", p.blocking)
	m.alert("WARNING", "", p.risks)
	m.alert("NOTE", "", p.warnings)
	if len(p.notes) > 0 {
		m.add("\n")
	}
	for _, n := range p.notes {
		const shown = 40
		if !m.add("- " + inline(n.label) + ": " + codes(n.items, shown) + "\n") {
			m.omitted = append(m.omitted, inline(n.label))
		}
	}
}

// alert is a coloured box of GitHub's; elsewhere it is a quotation.
func (m *markdown) alert(kind, title string, notices []notice) {
	if len(notices) == 0 || !m.add("\n> [!"+kind+"]\n") {
		return
	}
	if title != "" {
		m.add("> " + title + "\n")
	}
	for i, n := range notices {
		text := inline(n.text)
		if n.name != "" {
			text = "**" + inline(n.name) + "**: " + text
		}
		if n.do != "" {
			text += " → " + inline(n.do)
		}
		if !m.add("> - " + text + "\n") {
			m.omitted = append(m.omitted, count(len(notices)-i, "more notice", "more notices"))
			return
		}
	}
}

// details adds what is destroyed, then the picture, then the rest by stages.
func (m *markdown) details(p *page) {
	first := true
	for _, s := range p.sections {
		for _, e := range s.entries {
			if !destructive(e.op) {
				continue
			}
			if first {
				first = false
				m.add("\n#### Destroyed\n")
			}
			m.entry(e)
		}
	}
	m.add("\n<details><summary>The stages as a picture</summary>\n\n```mermaid\n" + mermaid(p) + "```\n\n</details>\n")
	for i, s := range p.sections {
		m.section(i+1, s)
	}
	for i, line := range p.folded {
		if !m.item("- " + inline(line) + "\n") {
			m.omitted = append(m.omitted, count(len(p.folded)-i, "change of labels", "changes of labels"))
			break
		}
	}
	if len(m.omitted) > 0 {
		const names = 5
		text := fmt.Sprintf("\n**Not shown, for lack of room: %s.**\n", list(m.omitted, names))
		if m.Len()+len(text) > m.budget {
			text = fmt.Sprintf("\n**Not shown, for lack of room: %d parts.**\n", len(m.omitted))
		}
		m.WriteString(text)
	}
}

func (m *markdown) section(number int, s section) {
	title := fmt.Sprintf("\n#### %d %s\n", number, inline(s.name))
	if s.text != "" {
		title += "\n" + inline(s.text) + "\n"
	}
	if !m.add(title) {
		m.omitted = append(m.omitted, "stage "+inline(s.name))
	}
	for _, e := range s.entries {
		if !destructive(e.op) {
			m.entry(e)
		}
	}
}

// entry adds a step with all that can be unfolded, or without when that is too much.
func (m *markdown) entry(e entry) {
	line := "<code>" + inHTML(mark(e.op)+" "+e.name) + "</code>"
	if e.detail != "" {
		line += " " + inHTML(e.detail)
	}
	if len(e.rows) == 0 && len(e.body) == 0 {
		if !m.item("- " + strings.TrimSpace(line) + "\n") {
			m.omitted = append(m.omitted, inline(e.name))
		}
		return
	}
	if len(e.rows) > 0 {
		line += " (" + count(len(e.rows)+e.hiddenRows, "change", "changes") + ")"
	}
	if m.add("\n<details><summary>" + line + "</summary>\n\n" + fenced(diffText(e)) + "\n</details>\n") {
		return
	}
	if !m.item("- " + line + " (too long to be shown)\n") {
		m.omitted = append(m.omitted, inline(e.name))
	}
}
