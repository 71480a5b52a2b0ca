package haystack

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// manyNeedles is how many needles with the same beginning are worth an order, and longestRun
// how far a text is compared with all of them at once.
const (
	manyNeedles = 16
	longestRun  = 256
)

// order is that of many needles which begin alike: their places in byStart, by their texts.
// Values of one sort begin alike, such as certificates and keys; comparing each of them
// with each place where one begins would take as long as the square of their number.
type order struct {
	places []int
	// folded says that no needle has more than one space in a row.
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

// candidates are the places in needles, ascending, of those that may begin at a place of
// the text: as far as it has one reading, they say the same. Which of them do begin there,
// match says.
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

// plain is the byte of a needle that the text has at a place and where it goes on, -1 when
// there is more than one reading. Blanks in a row are one, which holds for folded needles
// alone.
func (w *search) plain(at int, folded bool) (c byte, next int) {
	switch c = w.s[at]; {
	case c >= utf8.RuneSelf, c == '+', escaped(w.s, at), isBlank(c) && !folded:
		return 0, -1
	case !isBlank(c):
		return c, at + 1
	}
	for next = at + 1; next < len(w.s) && isBlank(w.s[next]); next++ {
	}
	return ' ', next
}
