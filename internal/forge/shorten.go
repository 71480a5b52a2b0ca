package forge

import "strings"

// cutNote ends a text that was cut.
const cutNote = "\n_The rest did not fit; it is in the job's summary and artifacts._\n"

// shorten cuts Markdown between lines to at most limit bytes, and closes what is open there:
// fenced code and collapsed sections. The first two lines, by which a comment is found again,
// always stay.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const closing = 200 // room for what has to be closed
	room := limit - len(cutNote) - closing
	var b strings.Builder
	fence, folds, n := "", 0, 0
	for line := range strings.Lines(text) {
		if n++; n > 2 && b.Len()+len(line) > room {
			break
		}
		b.WriteString(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, "`") == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		default:
			folds += strings.Count(line, "<details") - strings.Count(line, "</details>")
		}
	}
	if fence != "" {
		b.WriteString(fence + "\n")
	}
	if folds > 0 {
		b.WriteString("\n" + strings.Repeat("</details>\n", folds))
	}
	return b.String() + cutNote
}
