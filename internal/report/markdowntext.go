package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// inline makes text safe within a line of Markdown: it can't become markup, a
// link to an issue or a mention of a person.
func inline(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '\\', '`', '*', '_', '{', '}', '[', ']', '|', '~', '$', '!':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return plainMentions(b.String())
}

// plainMentions keeps @someone and #1 from being links.
func plainMentions(s string) string {
	return strings.NewReplacer("@", "@<!-- -->", "#", "#<!-- -->").Replace(s)
}

// codes joins items as code.
func codes(items []string, limit int) string {
	var out []string
	for i, item := range items {
		if i == limit {
			out = append(out, fmt.Sprintf("%d more", len(items)-limit))
			break
		}
		out = append(out, code(item))
	}
	return strings.Join(out, ", ")
}

// code is a code span that s can't leave.
func code(s string) string {
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// fenced is a block of a diff that its text can't leave.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "diff\n" + text + fence + "\n"
}

// diffText prints an entry's changes and body as lines of a diff.
func diffText(e entry) string {
	var b strings.Builder
	for _, r := range e.rows {
		b.WriteString(rowText(r))
	}
	if e.hiddenRows > 0 {
		b.WriteString("# … " + count(e.hiddenRows, "more change", "more changes") + "\n")
	}
	for _, line := range e.body {
		b.WriteString("+ " + line + "\n")
	}
	return b.String()
}

func rowText(r row) string {
	const limit = 500
	note := ""
	if r.cause != "" {
		note = "   # " + r.cause
	}
	if r.change.Cause == plan.CauseDrift {
		note = "   # ≠ " + r.cause
	}
	c := r.change
	if r.tally != "" {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s:%s\n", r.path, note)
		for _, line := range r.diff {
			if line.kind == '@' {
				b.WriteString("@@ " + line.text + " @@\n")
				continue
			}
			b.WriteString(string(line.kind) + " " + line.text + "\n")
		}
		if r.hiddenLines > 0 {
			b.WriteString("# … " + count(r.hiddenLines, "more line", "more lines") + "\n")
		}
		return b.String()
	}
	text := ""
	if c.From != nil {
		text += fmt.Sprintf("- %s: %s", r.path, cut(hiddenValue(c.From), limit))
		if c.To == nil {
			text += note
		}
		text += "\n"
	}
	if c.To != nil {
		text += fmt.Sprintf("+ %s: %s%s\n", r.path, cut(hiddenValue(c.To), limit), note)
	}
	if text == "" {
		text = "! " + r.path + note + "\n"
	}
	return text
}
