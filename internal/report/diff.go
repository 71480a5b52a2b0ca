package report

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// diffLine is a line of a unified diff: '+' is new, '-' is removed, ' ' is unchanged, and '@'
// begins a hunk.
type diffLine struct {
	kind byte
	text string
}

// isText reports whether the value is a text of several lines, before or after the change.
func isText(c plan.Change) bool {
	from, _ := c.From.(string)
	to, _ := c.To.(string)
	return !c.Sensitive && (severalLines(from) || severalLines(to))
}

func severalLines(s string) bool { return strings.Contains(strings.TrimSuffix(s, "\n"), "\n") }

// textDiff returns the unified diff of a change, with context unchanged lines around every difference.
func textDiff(c plan.Change, context int) (lines []diffLine, err error) {
	from, _ := c.From.(string)
	to, _ := c.To.(string)
	unified, err := udiff.ToUnified("", "", from, udiff.Lines(from, to), context)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", c.Path, err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(unified, "\n"), "\n") {
		if i < 2 || line == "" { // the names of the two files
			continue
		}
		switch line[0] {
		case '@':
			lines = append(lines, diffLine{'@', hunk(line)})
		case '\\':
			lines = append(lines, diffLine{' ', "(no newline at the end)"})
		default:
			text := strings.ReplaceAll(strings.TrimSuffix(line[1:], "\r"), "\t", "  ")
			lines = append(lines, diffLine{line[0], escape.Line(text)})
		}
	}
	return lines, nil
}

// hunk returns "line 12" for "@@ -12,7 +12,8 @@": the place in the new text.
func hunk(header string) string {
	_, place, _ := strings.Cut(header, "+")
	place, _, _ = strings.Cut(place, " ")
	place, _, _ = strings.Cut(place, ",")
	return "line " + place
}

// tally returns text such as "+2 −1 lines".
func tally(lines []diffLine) string {
	plus, minus := 0, 0
	for _, line := range lines {
		switch line.kind {
		case '+':
			plus++
		case '-':
			minus++
		}
	}
	return fmt.Sprintf("text, +%d −%d lines", plus, minus)
}
