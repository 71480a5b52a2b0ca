package report

import (
	"fmt"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// diffLine is a line of a unified diff: '+' is new, '-' is removed, ' ' is unchanged, '@' begins a hunk, and
// '\\' says that the line before it ends without a newline.
type diffLine struct {
	kind byte
	text string
	// cut reports whether a part of the text was left out.
	cut bool
}

// isText reports whether a text of several lines changes, is added or removed. One that becomes a map, list
// or number, or the reverse, is shown as a value, since lines have only one of the two.
func isText(c plan.Change) bool {
	from, wasText := c.From.(string)
	to, stays := c.To.(string)
	if !wasText && c.From != nil || !stays && c.To != nil {
		return false
	}
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
	printed := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	printed = printed[min(2, len(printed)):] // without the names of the two files
	twins := twinsOf(printed)
	for _, line := range printed {
		if line == "" {
			continue
		}
		switch text := line[1:]; {
		case line[0] == '@':
			lines = append(lines, diffLine{kind: '@', text: hunk(line)})
		case line[0] == '\\':
			lines = append(lines, diffLine{kind: '\\', text: "(no newline at the end)"})
		case twins[line]:
			lines = append(lines, diffLine{kind: line[0], text: withBlanks(text)})
		default:
			lines = append(lines, diffLine{kind: line[0], text: shownLine(text)})
		}
	}
	return lines, nil
}

// twinsOf returns the removed and the new lines that look like one on the other side and differ
// from it all the same: in the end of the line, in tabs or in blanks at the end.
func twinsOf(printed []string) map[string]bool {
	sides := map[byte]map[string][]string{'-': {}, '+': {}}
	for _, line := range printed {
		if line != "" && sides[line[0]] != nil {
			look := strings.TrimRight(shownLine(line[1:]), " ")
			sides[line[0]][look] = append(sides[line[0]][look], line)
		}
	}
	twins := map[string]bool{}
	for look, removed := range sides['-'] {
		added := sides['+'][look]
		texts := map[string]bool{}
		for _, line := range slices.Concat(removed, added) {
			texts[line[1:]] = true
		}
		for _, line := range slices.Concat(removed, added) {
			if len(added) > 0 && len(texts) > 1 {
				twins[line] = true
			}
		}
	}
	return twins
}

// shownLine returns a line as people read it.
func shownLine(text string) string {
	return escape.Line(strings.ReplaceAll(strings.TrimSuffix(text, "\r"), "\t", "  "))
}

// withBlanks returns a line with escape sequences for what shownLine leaves out, and for blanks at the end.
func withBlanks(text string) string {
	visible := strings.TrimRight(text, " \t\r")
	return escape.Line(visible) + strings.ReplaceAll(escape.Line(text[len(visible):]), " ", `\x20`)
}

// hunk returns "line 12" for "@@ -12,7 +12,8 @@": the place in the new text, or in the old one if
// the new one is empty.
func hunk(header string) string {
	sides := strings.Fields(header)
	before, _, _ := strings.Cut(sides[1][1:], ",")
	place, _, _ := strings.Cut(sides[2][1:], ",")
	if place == "0" {
		place = before
	}
	return "line " + place
}

// tally returns how much of a text changes, such as "text, +2 −1 lines", or how long it is if it is new or
// goes: "added: text, 3 lines".
func tally(c plan.Change, lines []diffLine) string {
	plus, minus := 0, 0
	for _, line := range lines {
		switch line.kind {
		case '+':
			plus++
		case '-':
			minus++
		}
	}
	switch {
	case c.From == nil:
		return "added: text, " + Count(plus, "line", "lines")
	case c.To == nil:
		return "removed (was text, " + Count(minus, "line", "lines") + ")"
	}
	return fmt.Sprintf("text, +%d −%d lines", plus, minus)
}
