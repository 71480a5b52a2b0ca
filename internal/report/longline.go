package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/textwidth"
)

// longLine is how many columns of a line are shown where nobody has asked for all of them.
const longLine = 500

// shorten cuts lines to at most limit columns (0: no limit). What differs in removed and new lines stays:
// each is compared with the one on the other side that begins most like it.
func shorten(lines []diffLine, limit int) {
	for limit > 0 && len(lines) > 0 {
		n := max(changedLines(lines), 1)
		removed, added := sorted(lines[:n], '-'), sorted(lines[:n], '+')
		for i, line := range lines[:n] {
			if width(line.text) <= limit {
				continue
			}
			others := added
			if line.kind == '+' {
				others = removed
			}
			lines[i].text = cut(from(line.text, alike(line.text, others), limit), limit)
			lines[i].cut = true
		}
		lines = lines[n:]
	}
}

// changedLines counts the lines at the beginning that change.
func changedLines(lines []diffLine) int {
	n := slices.IndexFunc(lines, func(line diffLine) bool { return line.kind == ' ' || line.kind == '@' })
	if n < 0 {
		return len(lines)
	}
	return n
}

// sorted returns the texts of the lines of a kind, sorted.
func sorted(lines []diffLine, kind byte) []string {
	var out []string
	for _, line := range lines {
		if line.kind == kind {
			out = append(out, line.text)
		}
	}
	slices.Sort(out)
	return out
}

// alike returns how many columns a line has in common with the beginning of the one of the sorted others that
// begins most like it, which is beside it in their order.
func alike(line string, others []string) int {
	at, _ := slices.BinarySearch(others, line)
	most := 0
	for _, other := range others[max(at-1, 0):min(at+1, len(others))] {
		most = max(most, width(common(line, other)))
	}
	return most
}

// common returns the text with which both begin.
func common(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// from leaves out the beginning of a line if what is at the column would not be among its first limit ones.
func from(line string, at, limit int) string {
	const before = 60 // to see where it is
	if start := at - before; at+before > limit {
		return more + line[len(textwidth.Head(line, start)):]
	}
	return line
}

// lines returns a change as lines of a diff, that of a value as one for each side.
func (r row) lines() []diffLine {
	if r.tally != "" {
		return r.diff
	}
	from, to := value(r.change.From), value(r.change.To)
	if r.line > 0 && max(width(from), width(to)) > r.line {
		from, to = quotedAlike(r.change.From, r.change.To)
	}
	var lines []diffLine
	if r.change.From != nil {
		lines = append(lines, diffLine{kind: '-', text: from})
	}
	if r.change.To != nil {
		lines = append(lines, diffLine{kind: '+', text: to})
	}
	shorten(lines, r.line)
	return lines
}

// left says how much of the lines was left out, "" if nothing was.
func (r row) left(lines []diffLine) string {
	var out []string
	if r.hiddenLines > 0 {
		out = append(out, Count(r.hiddenLines, "more line", "more lines"))
	}
	n := 0
	for _, line := range lines {
		if line.cut {
			n++
		}
	}
	if n > 0 {
		out = append(out, Count(n, "line cut short", "lines cut short"))
	}
	return strings.Join(out, ", ")
}
