package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// MarkdownOptions say how a plan is printed for a pull request.
type MarkdownOptions struct {
	// Budget is how many bytes a comment may have; 0 means DefaultBudget.
	Budget int
	// Marker distinguishes comments about the same release, such as in two clusters; "" if there is
	// only one.
	Marker string
	// Rest receives what does not fit, in full, as a page of Markdown of its own; RestName is its
	// name in the comment. Without Rest, the comment only names what does not fit.
	Rest     io.Writer
	RestName string
}

// DefaultBudget is a little less than the 65,536 characters that GitHub allows.
const DefaultBudget = 65000

// marker begins the first line of a comment, by which a bot finds the comment to update.
const marker = "<!-- kubectl-release plan of "

// Marker returns the first line of Markdown's output for a release, the same from plan to plan. name
// is MarkdownOptions.Marker.
func Marker(p *plan.Document, name string) string {
	text := p.Release.String()
	if name != "" {
		text += ", " + name
	}
	return markerOf(text)
}

func markerOf(text string) string {
	return marker + strings.NewReplacer("--", "- -", ">", "", "<", "").Replace(escape.Line(text)) + " -->"
}

// Markdown prints the plan for a pull request on GitHub or GitLab: problems, risks and deletions
// first, everything else folded. What does not fit the budget is named. It prints secrets when the
// plan holds them: see redact.Plan. Errors are those of w and of Rest.
func Markdown(w io.Writer, p *plan.Document, o MarkdownOptions) error {
	shortView, wholeView := commentViews()
	page, err := newPage(p, shortView)
	if err != nil {
		return err
	}
	m, whole := markdown{budget: cmp.Or(o.Budget, DefaultBudget)}, page
	if o.Rest != nil {
		if whole, err = newPage(p, wholeView); err != nil {
			return err
		}
		m.restName = code(escape.Line(o.RestName))
	}
	effect := p.EffectDigest
	if p.Impossible() {
		effect = failed
	}
	m.head(Marker(p, o.Marker)+"\n"+effectLine(p.Summary, p.Summary.Blocking, effect), page)
	if !page.quiet() {
		m.details(page, whole)
	}
	if shown := digests(p, short); len(shown) > 0 {
		m.add("\n<sub>" + inHTML(strings.Join(shown, " · ")) + "</sub>\n")
	}
	if page.footnote != "" {
		m.add("\n<sub>" + inHTML(page.footnote) + "</sub>\n")
	}
	m.end()
	if o.Rest != nil {
		if _, err := io.WriteString(o.Rest, m.restPage(page)); err != nil {
			return err
		}
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
	// rest is what did not fit; restName names where it goes, "" for nowhere.
	rest     strings.Builder
	restName string
	// plain leaves out the graph of the stages.
	plain bool
	// listing is set after an item of a list: the next item needs no empty line before it.
	listing bool
}

// reserve is the space for the sentence about what did not fit.
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

// fits reports whether there is room for a line of a list.
func (m *markdown) fits(line string) bool {
	before := 0
	if !m.listing {
		before = len("\n")
	}
	return m.Len()+before+len(line)+reserve <= m.budget
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
	m.add(first)
	m.add("### " + inline(p.title) + "\n\n")
	m.opening(p)
}

// opening prints what comes before the details.
func (m *markdown) opening(p *page) {
	counts := "**" + inline(p.verdict) + "**\n"
	if p.dangers != "" {
		counts = "**" + inline(p.dangers) + "**\n\n" + counts
	}
	kept := len(counts) + mentionsRoom(p.reviews)
	m.budget -= kept // however many problems there are, the counts are shown, and people are asked
	if len(p.facts) > 0 {
		m.add(inline(strings.Join(p.facts, " · ")) + "\n\n")
	}
	m.alert("WARNING", "", p.foremost)
	m.alert("CAUTION", "Blocked by "+Count(len(p.blocking), "problem", "problems")+"; nothing will be written.", p.blocking)
	if len(p.foremost)+len(p.blocking) > 0 {
		m.add("\n")
	}
	m.budget += kept
	m.add(counts)
	m.reviews(p.reviews)
	m.notes(p.impact)
	m.alert("WARNING", "", p.risks)
	m.alert("NOTE", "", p.warnings)
	m.notes(p.notes)
}

// notes prints a list of notes with their labels.
func (m *markdown) notes(notes []note) {
	for _, n := range notes {
		const shown = 40
		if !m.item(n.markdown(shown)) {
			m.omit(inline(n.label), n.markdown(len(n.items)))
		}
	}
}

// details prints deletions, then the graph, then the other steps by stage. whole is the same page
// with nothing left out.
func (m *markdown) details(p, whole *page) {
	m.headed("\n#### Destroyed\n", func() {
		for i, s := range p.sections {
			for j, e := range s.entries {
				if destructive(e.op) {
					m.entry(e, whole.sections[i].entries[j])
				}
			}
		}
	})
	m.timeline(p.hooks)
	if !m.plain {
		m.add("\n<details><summary>The stages as a diagram</summary>\n\n```mermaid\n" + mermaid(p) + "```\n\n</details>\n")
	}
	for i, s := range p.sections {
		m.section(i+1, s, whole.sections[i])
	}
	m.ending(p.ending)
}

// headed prints a heading and what is below it, or no heading if nothing of that fits. It reports
// whether the heading fits.
func (m *markdown) headed(heading string, below func()) bool {
	before, listing := m.String(), m.listing
	fits := m.add(heading)
	start := m.Len()
	below()
	if fits && m.Len() == start {
		m.Reset()
		m.WriteString(before)
		m.listing = listing
	}
	return fits
}

// folded prints the changes that many objects share.
func (m *markdown) folded(lines []string) {
	for i, line := range lines {
		if m.item("- " + inline(line) + "\n") {
			continue
		}
		m.omit(Count(len(lines)-i, "change of labels", "changes of labels"), "")
		for _, line := range lines[i:] {
			m.rest.WriteString("- " + inline(line) + "\n")
		}
		return
	}
}

func (m *markdown) section(number int, s, whole section) {
	stays := func(e entry) bool { return !destructive(e.op) }
	if s.text == "" && len(s.entries) > 0 && !slices.ContainsFunc(s.entries, stays) {
		return // all of it was printed among the deletions
	}
	title, text := fmt.Sprintf("\n#### %d %s\n", number, inline(s.name)), ""
	if s.text != "" {
		text = "\n" + inline(s.text) + "\n"
	}
	if len(s.entries) == 0 && text != "" {
		if !m.add(title + text) {
			m.omit("stage "+inline(s.name), title+text)
		}
		m.folded(s.folded)
		return
	}
	fits := m.headed(title, func() {
		for i, e := range s.entries {
			if stays(e) {
				m.entry(e, whole.entries[i])
			}
		}
		if text != "" && !m.add(text) {
			m.omit("the end of stage "+inline(s.name), text)
		}
		m.folded(s.folded)
	})
	if !fits {
		m.omit("stage "+inline(s.name), title)
	}
}

// entry prints a step with what can be unfolded or, if that is too long, without it. whole is the
// same step with nothing left out.
func (m *markdown) entry(e, whole entry) {
	line := entryLine(e)
	short, folds := "- "+line+"\n", len(e.rows) > 0 || e.creates != nil
	if folds {
		short = "- " + line + " (too long to be shown" + m.there(", see ", "") + ")\n"
	}
	switch {
	case m.restName == "" && !m.fits(short): // nor does what can be unfolded, and nothing takes the rest
		m.omit(inline(e.name), "")
	case !folds && m.item(short):
	case !folds:
		m.omit(inline(e.name), short)
	case m.add(unfolding(e)):
		if shortened(e) {
			m.rest.WriteString(unfolding(whole))
		}
	case m.item(short):
		m.rest.WriteString(unfolding(whole))
	default:
		m.omit(inline(e.name), unfolding(whole))
	}
}
