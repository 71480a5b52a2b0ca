package report

import (
	"fmt"
	"slices"
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
	printed := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	printed = printed[min(2, len(printed)):] // without the names of the two files
	twins := twinsOf(printed)
	for _, line := range printed {
		if line == "" {
			continue
		}
		switch text := line[1:]; {
		case line[0] == '@':
			lines = append(lines, diffLine{'@', hunk(line)})
		case line[0] == '\\':
			lines = append(lines, diffLine{' ', "(no newline at the end)"})
		case twins[line]:
			lines = append(lines, diffLine{line[0], withBlanks(text)})
		default:
			lines = append(lines, diffLine{line[0], shownLine(text)})
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
		if len(added) == 0 || removed[0][1:] == added[0][1:] {
			continue
		}
		for _, line := range append(removed, added...) {
			twins[line] = true
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

// longLine is how many characters of a line are shown where nobody has asked for all of them.
const longLine = 500

// shorten cuts lines to at most limit characters. Where a removed line has a new one in its place, what
// differs in them stays.
func shorten(lines []diffLine, limit int) {
	for len(lines) > 0 {
		removed := leading(lines, '-')
		added := leading(lines[removed:], '+')
		for i := range min(removed, added) {
			before, after := []rune(lines[i].text), []rune(lines[removed+i].text)
			same := 0
			for same < min(len(before), len(after)) && before[same] == after[same] {
				same++
			}
			lines[i].text, lines[removed+i].text = from(before, same, limit), from(after, same, limit)
		}
		at := max(removed+added, 1)
		for i := range at {
			lines[i].text = cut(lines[i].text, limit)
		}
		lines = lines[at:]
	}
}

// from leaves out the beginning of a line if what is at the index would not be among its first limit
// characters.
func from(line []rune, at, limit int) string {
	const before = 60 // to see where it is
	if start := at - before; len(line) > limit && at+before > limit {
		return more + string(line[start:])
	}
	return string(line)
}

// leading counts the lines of a kind at the beginning.
func leading(lines []diffLine, kind byte) int {
	n := slices.IndexFunc(lines, func(line diffLine) bool { return line.kind != kind })
	if n < 0 {
		return len(lines)
	}
	return n
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
