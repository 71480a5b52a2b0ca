// Package haystack finds texts in other texts, however they are escaped or
// encoded there: quoted for Go, JSON, YAML, JavaScript, HTML, URLs, SQL or a
// shell, twice over, folded and indented, in a log whose lines begin with bars,
// and within base64, base32 or hex.
//
// It does not know what the texts are, and finds none that were cut, encrypted,
// compressed or otherwise made unrecognisable.
package haystack

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// MinLength is the length of the shortest needle, in bytes.
const MinLength = 4

// Needle is a text to look for.
type Needle struct {
	// Text is at least MinLength long, not counting the blanks around it.
	Text string
	// Value is the value of which Text is one form.
	Value string
	// Inside reports whether it is found within words, too.
	Inside bool
}

// Span is a place in a text.
type Span struct {
	From, To int
	// Value is that of the needle that is there, "" when the text was not
	// searched to its end.
	Value string
	// Part reports whether the needle is only a part of what is there.
	Part bool
}

// Finder finds needles in texts, however they are escaped there, and in what
// is encoded there as base64, base32 or hex. See readings and encodings.
type Finder struct {
	// byStart holds the needles by their first bytes, longest first.
	byStart map[string][]Needle
	// orders are those of the beginnings that many needles share.
	orders map[string]order
	// prefixes are the proper prefixes of the keys of byStart.
	prefixes map[string]bool
	// filter is a Bloom filter of the keys.
	filter [filterBits / 64]uint64
	// blanks and broken report whether these keys have blanks, and bytes that
	// others print as U+FFFD.
	blanks, broken bool
	// searches are finished ones, kept for their buffers.
	searches sync.Pool
}

const filterBits = 1 << 16

// New returns a Finder of the needles that are not too short.
func New(needles []Needle) *Finder {
	f := &Finder{byStart: map[string][]Needle{}, orders: map[string]order{}, prefixes: map[string]bool{}}
	seen := map[string]bool{}
	for _, n := range needles {
		n.Text = fold(strings.TrimSpace(n.Text))
		if len(n.Text) < MinLength || seen[n.Text] {
			continue
		}
		seen[n.Text] = true
		f.byStart[n.Text[:MinLength]] = append(f.byStart[n.Text[:MinLength]], n)
	}
	for start, list := range f.byStart {
		slices.SortFunc(list, func(a, b Needle) int {
			return cmp.Or(cmp.Compare(len(b.Text), len(a.Text)), strings.Compare(a.Text, b.Text))
		})
		if len(list) >= manyNeedles {
			f.orders[start] = newOrder(list)
		}
		bit := filterBit(four(start))
		f.filter[bit/64] |= 1 << (bit % 64)
		for i := range len(start) {
			f.prefixes[start[:i]] = true
			f.broken = f.broken || unprintable(start, i)
		}
		f.blanks = f.blanks || strings.Contains(start, " ")
	}
	return f
}

// filterBit returns the bit of four bytes in the filter.
func filterBit(start uint32) uint32 {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	return start * spread >> 16
}

// four returns the first four bytes of a text as one number.
func four(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// unprintable reports whether the byte at i is one that JSON and HTML cannot
// represent: they write U+FFFD for NUL and for what is not UTF-8.
func unprintable(s string, i int) bool {
	if s[i] == 0 {
		return true
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return r == utf8.RuneError && n == 1
}

const replacement = string(utf8.RuneError)

// bar begins each line of a log that is printed among other lines: "| text". After a blank, it may
// be one more blank.
const bar = "|"

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// fold replaces every run of blanks with one space. A text of almost nothing but
// blanks keeps their number.
func fold(s string) string {
	folded, spaced := make([]byte, 0, len(s)), make([]byte, 0, len(s))
	for i := range len(s) {
		if !isBlank(s[i]) {
			folded, spaced = append(folded, s[i]), append(spaced, s[i])
			continue
		}
		spaced = append(spaced, ' ')
		if i == 0 || !isBlank(s[i-1]) {
			folded = append(folded, ' ')
		}
	}
	if len(folded) < MinLength {
		return string(spaced)
	}
	return string(folded)
}

const (
	// A step is about a nanosecond's work, the comparison of one byte. Looking for
	// escape sequences takes as long as readingSteps of them.
	leastSteps   = 1 << 20
	stepsPerByte = 256
	readingSteps = 64
	// maxEncodings is how many times over a text may be encoded.
	maxEncodings = 4
)

// Find returns the places of needles in a text. They may overlap, and are in no
// order. A text that takes too much work to search, which only a crafted one does,
// is one span from end to end. Find is safe for concurrent use.
func (f *Finder) Find(s string) []Span {
	if len(f.byStart) == 0 {
		return nil
	}
	w, _ := f.searches.Get().(*search)
	if w == nil {
		w = &search{Finder: f}
	}
	defer f.searches.Put(w)
	return slices.Clone(w.find(s, maxEncodings, false))
}
