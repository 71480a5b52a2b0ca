package report

import (
	"html"
	"io"
	"strconv"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// SetHTML prints the plan of a set as one self-contained page: the table, and below it
// each plan to unfold. It loads nothing, and prints secrets when the plans hold them.
// Errors are those of w.
func SetHTML(w io.Writer, d *releaseset.Document) error {
	p := newSetPage(d)
	h := htmlWriter{}
	h.begin(p.title, htmlStyle+htmlSetStyle)
	if p.dangers != "" {
		h.tag("p", "verdict dangers", p.dangers)
	}
	h.list("dangers", p.unread)
	h.list("warnings", p.warnings)
	h.notes(reviewsNote(p.reviews))
	h.setTable(p)
	h.matrices(p.matrices)
	if p.rest != "" {
		h.tag("p", "facts", p.rest)
	}
	h.tools()
	for _, r := range p.each {
		if err := h.setRelease(r); err != nil {
			return err
		}
	}
	h.end()
	_, err := io.WriteString(w, h.String())
	return err
}

func (h *htmlWriter) setTable(p *setPage) {
	if len(p.rows) == 0 {
		return
	}
	h.WriteString("<table class=\"set\"><thead><tr>")
	for _, head := range p.heads() {
		h.tag("th", "", head)
	}
	h.WriteString("</tr></thead>\n")
	for _, r := range p.rows {
		class := ""
		if r.Blocked() {
			class = "blocked"
		}
		h.printf("<tr%s><td>", classAttribute(class))
		h.setName(r)
		if len(r.like) > 0 {
			h.WriteString("<details><summary>" + r.others()[1:] + "</summary>")
			for _, other := range r.like {
				h.setName(other)
				h.WriteString("<br>")
			}
			h.WriteString("</details>")
		}
		h.WriteString("</td>")
		for _, text := range []string{r.op, r.chart, r.objects} {
			h.tag("td", "", text)
		}
		h.WriteString("<td>")
		h.tag("b", "dangers", r.risks)
		h.tag("div", "", r.notes)
		if p.digests {
			h.WriteString("</td><td>")
			h.tag("code", "", r.shortDigest())
		}
		h.WriteString("</td></tr>\n")
	}
	h.WriteString("</table>\n")
}

// setName prints a release's name as a link to its plan.
func (h *htmlWriter) setName(r setRow) {
	if r.Plan == nil {
		h.tag("span", "", r.name)
		return
	}
	h.printf(`<a href="#r%d">%s</a>`, r.id, html.EscapeString(r.name))
}

// setRelease prints a release's plan, folded.
func (h *htmlWriter) setRelease(r setRow) error {
	if r.Plan == nil {
		return nil
	}
	page, err := newPage(r.Plan, htmlView())
	if err != nil {
		return err
	}
	h.WriteString(`<details class="release" id="r` + strconv.Itoa(r.id) + `"><summary>`)
	h.tag("b", "", r.name)
	if r.Blocked() {
		h.tag("span", "dangers", " blocked")
	}
	h.tag("span", "facts", " "+page.verdict)
	h.WriteString("</summary>\n")
	h.opening(page)
	h.body(page)
	h.WriteString("</details>\n")
	return nil
}
