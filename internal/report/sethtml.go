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
	h.list("warnings", p.warnings)
	h.setTable(p.rows)
	if p.rest != "" {
		h.tag("p", "facts", p.rest)
	}
	h.tools()
	for i := range p.rows {
		if err := h.setRelease(i, p.rows[i]); err != nil {
			return err
		}
	}
	h.end()
	_, err := io.WriteString(w, h.String())
	return err
}

func (h *htmlWriter) setTable(rows []setRow) {
	if len(rows) == 0 {
		return
	}
	h.WriteString("<table class=\"set\"><thead><tr>")
	for _, head := range []string{"Release", "Operation", "Chart", "Objects", "Risks and notes", "Digest"} {
		h.tag("th", "", head)
	}
	h.WriteString("</tr></thead>\n")
	for i, r := range rows {
		class := ""
		if r.Blocked() {
			class = "blocked"
		}
		h.printf("<tr%s><td>", classAttribute(class))
		if r.Plan != nil {
			h.printf(`<a href="#r%d">%s</a>`, i, html.EscapeString(r.name))
		} else {
			h.tag("span", "", r.name)
		}
		if n := len(r.like); n > 0 {
			h.tag("small", "", " and "+count(n, "other", "others"))
		}
		h.WriteString("</td>")
		for _, text := range []string{r.op, r.chart, r.objects} {
			h.tag("td", "", text)
		}
		h.WriteString("<td>")
		h.tag("b", "dangers", r.risks)
		h.tag("div", "", r.notes)
		h.WriteString("</td><td>")
		const short = 12
		h.tag("code", "", r.Digest[:min(short, len(r.Digest))])
		h.WriteString("</td></tr>\n")
	}
	h.WriteString("</table>\n")
}

// setRelease is a release's plan, folded.
func (h *htmlWriter) setRelease(i int, r setRow) error {
	if r.Plan == nil {
		return nil
	}
	page, err := newPage(r.Plan, view{bodies: true, context: 3})
	if err != nil {
		return err
	}
	h.WriteString(`<details class="release" id="r` + strconv.Itoa(i) + `"><summary>`)
	h.tag("b", "", r.name)
	h.tag("span", "facts", " "+page.verdict)
	h.WriteString("</summary>\n")
	h.opening(page)
	h.body(page)
	h.WriteString("</details>\n")
	return nil
}
