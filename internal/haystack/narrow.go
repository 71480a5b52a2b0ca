package haystack

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// manyNeedles is from how many needles with the same beginning on an order is worth it, and
// longestRun how many bytes of a text are compared with all of them at the same time.
const (
	manyNeedles = 16
	longestRun  = 256
)

// order has the indices in byStart of many needles that begin alike, sorted by text. Values
// of one kind begin alike, such as certificates and keys; comparing each of them with each
// place where one begins would take time quadratic in their number.
type order struct {
	places []int
	// folded reports whether no needle has more than one space in a row.
	folded bool
}

func newOrder(needles []Needle) order {
	o := order{places: make([]int, len(needles)), folded: true}
	for i, n := range needles {
		o.places[i] = i
		o.folded = o.folded && !strings.Contains(n.Text, "  ")
	}
	slices.SortFunc(o.places, func(a, b int) int { return strings.Compare(needles[a].Text, needles[b].Text) })
	return o
}

// candidates returns the indices, ascending, of the needles that may begin at a place of the
// text: they agree with it as far as it has only one reading. match tells which of them do
// begin there.
func (w *search) candidates(needles []Needle, o order, at int) []int {
	var ended []int
	left, end := o.places, at+longestRun
	for depth := 0; len(left) > 1; depth++ {
		for len(left) > 0 && len(needles[left[0]].Text) == depth {
			ended, left = append(ended, left[0]), left[1:]
		}
		if at == len(w.s) {
			slices.Sort(ended)
			return ended
		}
		c, next := w.plain(at, o.folded)
		if next < 0 || next > end {
			break
		}
		// They are sorted, and have the same text up to here.
		from := sort.Search(len(left), func(i int) bool { return needles[left[i]].Text[depth] >= c })
		to := from + sort.Search(len(left)-from, func(i int) bool { return needles[left[from+i]].Text[depth] > c })
		left, at = left[from:to], next
		w.steps -= readingSteps / 8
	}
	out := append(ended, left...)
	slices.Sort(out)
	return out
}

// plain returns the byte of a needle that the text has at a place, and where the text goes on,
// -1 when there is more than one reading. Blanks in a row count as one, which is right for
// folded needles only.
func (w *search) plain(at int, folded bool) (c byte, next int) {
	switch c = w.s[at]; {
	case c >= utf8.RuneSelf, c == '+', escaped(w.s, at), isBlank(c) && !folded, c == bar[0] && at > 0 && isBlank(w.s[at-1]):
		return 0, -1
	case !isBlank(c):
		return c, at + 1
	}
	for next = at + 1; next < len(w.s) && isBlank(w.s[next]); next++ {
	}
	return ' ', next
}
