package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// inline escapes text for a line of Markdown, so it can't become markup, a link to an issue or a
// mention.
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

// plainMentions keeps @someone and #1 from becoming links.
func plainMentions(s string) string {
	return mentions.Replace(s)
}

var (
	mentions     = strings.NewReplacer("@", "@<!-- -->", "#", "#<!-- -->")
	htmlEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "*", "&ast;", "_", "&lowbar;",
		"`", "&grave;", "[", "&lsqb;", "]", "&rsqb;", `\`, "&bsol;", "$", "&dollar;")
)

// inHTML escapes text for HTML within Markdown. Within a line, as opposed to a block, of HTML there
// is still markup, which entities are not.
func inHTML(s string) string {
	return plainMentions(htmlEntities.Replace(s))
}

// codes joins items as code spans, and counts those beyond limit.
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

// markdown returns the note as an item of a list, with at most limit items of its own; items that are
// sentences have a line each.
func (n note) markdown(limit int) string {
	text := "- " + inline(n.label) + ":"
	switch {
	case !n.lines:
		return text + " " + codes(n.items, limit) + "\n"
	case len(n.items) == 1:
		return text + " " + inline(n.items[0]) + "\n"
	}
	for _, item := range n.items[:min(limit, len(n.items))] {
		text += "\n  - " + inline(item)
	}
	if more := len(n.items) - limit; more > 0 {
		text += fmt.Sprintf("\n  - %d more", more)
	}
	return text + "\n"
}

// code returns a code span that its text can't end.
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

// fenced returns a code block that its text can't end.
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
		b.WriteString("# … " + Count(e.hiddenRows, "more change", "more changes") + "\n")
	}
	for _, line := range e.body() {
		b.WriteString("+ " + line + "\n")
	}
	return b.String()
}

// rowText prints a change as lines of a diff, with its cause as a comment.
func rowText(r row) string {
	note := ""
	if r.cause != "" {
		note = "   # " + r.cause
	}
	if r.change.Cause == plan.CauseDrift {
		note = "   # ≠ " + r.cause
	}
	if r.like > 0 {
		note += fmt.Sprintf("   # and %d like it", r.like)
	}
	var text string
	lines := r.lines()
	switch {
	case r.tally != "":
		text = fmt.Sprintf("# %s: %s%s\n", r.path, r.tally, note) + diffLines(lines)
	case len(lines) == 0:
		text = "! " + r.path + note + "\n"
	default:
		for i := range lines {
			lines[i].text = r.path + ": " + lines[i].text
		}
		text = strings.TrimSuffix(diffLines(lines), "\n") + note + "\n"
	}
	if left := r.left(lines); left != "" {
		text += "# … " + left + "\n"
	}
	return text
}

func diffLines(lines []diffLine) string {
	var b strings.Builder
	for _, line := range lines {
		if line.kind == '@' {
			b.WriteString("@@ " + line.text + " @@\n")
			continue
		}
		b.WriteString(string(line.kind) + " " + line.text + "\n")
	}
	return b.String()
}

func entryLine(e entry) string {
	line := "<code>" + inHTML(mark(e.op)+" "+e.name) + "</code>"
	if e.detail != "" {
		line += " " + inHTML(e.detail)
	}
	if len(e.rows) > 0 {
		line += " (" + Count(len(e.rows)+e.hiddenRows, "change", "changes") + ")"
	}
	return strings.TrimSpace(line)
}

// unfolding returns a step whose changes and body can be unfolded.
func unfolding(e entry) string {
	return "\n<details><summary>" + entryLine(e) + "</summary>\n\n" + fenced(diffText(e)) + "\n</details>\n"
}

// shortened reports whether a part of the step was left out of the page.
func shortened(e entry) bool {
	return e.hiddenRows > 0 || slices.ContainsFunc(e.rows, func(r row) bool { return r.left(r.lines()) != "" })
}
