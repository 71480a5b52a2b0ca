package report

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// HTML prints the plan as one self-contained page that loads nothing: steps can be folded and
// searched, and colours follow the reader's choice of light or dark. What is too much for a browser
// is cut and marked as such, see the limits below. It prints secrets when the plan holds them: see
// redact.Plan. Errors are those of w.
func HTML(w io.Writer, p *plan.Document) error {
	page, err := newPage(p, htmlView())
	if err != nil {
		return err
	}
	h := htmlWriter{}
	h.begin(page.title, htmlStyle)
	h.opening(page)
	if len(page.sections) > 0 {
		h.tools()
	}
	h.body(page)
	if shown := digests(p, whole); len(shown) > 0 {
		h.tag("p", "facts", strings.Join(shown, " · "))
	}
	h.end()
	_, err = io.WriteString(w, h.String())
	return err
}

// Limits for the changes of an object, the lines of a text and the characters of a line or value on a page:
// with 20,000 changes, Chromium took seconds to unfold an object.
const htmlRows, htmlLines, htmlValue = 1000, 2000, 10_000

func htmlView() view {
	return view{bodies: true, context: 3, rows: htmlRows, lines: htmlLines, line: htmlValue}
}

// elsewhere says where to find the parts that a page omits.
const elsewhere = " (-o json shows all)"

// body prints the stages and what follows them.
func (h *htmlWriter) body(p *page) {
	h.timeline(p.hooks)
	for i, s := range p.sections {
		h.section(i+1, s)
	}
	h.ending(p.ending)
	if p.footnote != "" {
		h.tag("p", "facts", p.footnote)
	}
}

func (h *htmlWriter) end() {
	h.WriteString("</main>\n<script>" + htmlScript + "</script>\n</body>\n</html>\n")
}

type htmlWriter struct{ strings.Builder }

func (h *htmlWriter) printf(format string, args ...any) {
	fmt.Fprintf(h, format, args...)
}

// tag writes an element with a text, which it escapes.
func (h *htmlWriter) tag(name, class, text string) {
	h.printf("<%s%s>%s</%s>", name, classAttribute(class), html.EscapeString(text), name)
}

func classAttribute(class string) string {
	if class == "" {
		return ""
	}
	return ` class="` + class + `"`
}

func (h *htmlWriter) list(class string, items []string) {
	if len(items) == 0 {
		return
	}
	h.WriteString("<ul" + classAttribute(class) + ">")
	for _, item := range items {
		h.tag("li", "", item)
	}
	h.WriteString("</ul>\n")
}

func (h *htmlWriter) begin(title, style string) {
	h.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	h.tag("title", "", title)
	h.WriteString("\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n")
	h.tag("h1", "", title)
}

// opening prints what comes before the stages.
func (h *htmlWriter) opening(p *page) {
	if len(p.facts) > 0 {
		h.tag("p", "facts", strings.Join(p.facts, " · "))
	}
	h.WriteString("\n")
	h.notices("risks", "Read this first", p.foremost)
	h.notices("blocking", "Blocked: nothing will be written", p.blocking)
	if p.dangers != "" {
		h.tag("p", "verdict dangers", p.dangers)
		h.WriteString("\n")
	}
	h.tag("p", "verdict", p.verdict)
	h.WriteString("\n")
	h.notes(append(reviewsNote(p.reviews), p.impact...))
	h.notices("risks", "Look at these first", p.risks)
	h.notices("warnings", "Warnings", p.warnings)
	h.notes(p.notes)
}

// tools prints the controls for searching and unfolding.
func (h *htmlWriter) tools() {
	h.WriteString(`<p class="tools"><input id="search" type="search" placeholder="Search objects and fields" aria-label="Search"> ` +
		`<button id="open">Expand all</button> <button id="close">Collapse all</button></p>` + "\n")
}

func (h *htmlWriter) notes(notes []note) {
	for _, n := range notes {
		class := "note"
		if n.lines {
			class += " lines"
		}
		h.WriteString(`<div class="` + class + `">`)
		h.tag("b", "", n.label)
		h.list("", n.items)
		h.WriteString("</div>\n")
	}
}

func (h *htmlWriter) notices(class, title string, notices []notice) {
	if len(notices) == 0 {
		return
	}
	h.WriteString(`<div class="box ` + class + `">`)
	h.tag("b", "", title)
	h.WriteString("<ul>")
	for _, n := range notices {
		h.WriteString("<li>")
		if n.name != "" {
			h.tag("code", "", n.name)
			h.WriteString(" ")
		}
		h.tag("span", "", n.text)
		if n.do != "" {
			h.tag("div", "do", "→ "+n.do)
		}
		h.WriteString("</li>")
	}
	h.WriteString("</ul></div>\n")
}

func (h *htmlWriter) section(number int, s section) {
	h.WriteString("<section>\n")
	h.tag("h2", "", fmt.Sprintf("%d %s", number, s.name))
	h.WriteString("\n")
	for _, e := range s.entries {
		h.entry(e)
	}
	if s.text != "" {
		h.tag("p", "", s.text)
	}
	h.list("folded", s.folded)
	h.WriteString("</section>\n")
}

// entry prints a step; steps that delete are unfolded.
func (h *htmlWriter) entry(e entry) {
	folds := len(e.rows) > 0 || e.creates != nil
	outer, inner := "div", "div"
	if folds {
		outer, inner = "details", "summary"
	}
	open := ""
	if folds && destructive(e.op) {
		open = " open"
	}
	h.printf(`<%s class="entry %s"%s><%s>`, outer, html.EscapeString(escape.Line(string(e.op))), open, inner)
	h.tag("code", "", mark(e.op)+" "+e.name)
	if e.detail != "" {
		h.WriteString(" ")
		h.tag("span", "", e.detail)
	}
	if len(e.rows) > 0 {
		h.WriteString(" ")
		h.tag("small", "", Count(len(e.rows)+e.hiddenRows, "change", "changes"))
	}
	h.printf("</%s>", inner)
	if len(e.rows) > 0 {
		h.rows(e.rows)
		if e.hiddenRows > 0 {
			h.hidden(Count(e.hiddenRows, "more change", "more changes"))
		}
	}
	if e.creates != nil {
		h.tag("pre", "", strings.Join(e.body(), "\n"))
	}
	h.printf("</%s>\n", outer)
}

// hidden says how much was left out.
func (h *htmlWriter) hidden(what string) { h.tag("small", "", "… "+what+elsewhere) }

func (h *htmlWriter) rows(rows []row) {
	h.WriteString("<table>")
	for _, r := range rows {
		h.WriteString("<tr>")
		h.tag("td", "path", r.path)
		h.WriteString("<td>")
		text := r.values(0)
		if len(text) > htmlValue {
			text = r.values(htmlValue) + elsewhere
		}
		h.tag("span", "", text)
		if r.tally != "" {
			h.diff(r.diff)
			if left := r.left(r.diff); left != "" {
				h.hidden(left)
			}
		}
		h.WriteString("</td>")
		if r.change.Cause == plan.CauseDrift {
			h.tag("td", "drift", "≠ "+r.cause)
		} else {
			h.tag("td", "cause", r.cause)
		}
		h.WriteString("</tr>")
	}
	h.WriteString("</table>")
}

func (h *htmlWriter) diff(lines []diffLine) {
	h.WriteString("<pre>")
	for _, line := range lines {
		switch line.kind {
		case '+':
			h.tag("ins", "", "+ "+line.text)
		case '-':
			h.tag("del", "", "- "+line.text)
		case '@':
			h.tag("i", "", "@ "+line.text)
		default:
			h.tag("span", "", "  "+line.text)
		}
		h.WriteString("\n")
	}
	h.WriteString("</pre>")
}
