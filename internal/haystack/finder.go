package haystack

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// MinLength is the length of the shortest needle, in bytes.
const MinLength = 4

// Needle is a text to look for.
type Needle struct {
	// Text is at least MinLength long, blanks around it not counted.
	Text string
	// Value is what the text is a form of.
	Value string
	// Inside says that it is found within words, too.
	Inside bool
}

// Span is a place in a text.
type Span struct {
	From, To int
	// Value is that of the needle that is there, "" when the text was not
	// searched to its end.
	Value string
	// Part says that the needle is only a part of what is there.
	Part bool
}

// Finder finds needles in texts, however they are escaped there, and in what
// is encoded there as base64, base32 or hex. See readings and encodings.
type Finder struct {
	// byStart holds the needles by their first bytes, longest first.
	byStart map[string][]Needle
	// prefixes are what the keys of byStart begin with.
	prefixes map[string]bool
	// filter is a Bloom filter of the keys.
	filter [filterBits / 64]uint64
	// blanks and broken say that there are blanks in these keys, and bytes that
	// others print as U+FFFD.
	blanks, broken bool
	// searches are those that are over, for their buffers.
	searches sync.Pool
}

const filterBits = 1 << 16

// New prepares a search for needles. Those that are too short are left out.
func New(needles []Needle) *Finder {
	f := &Finder{byStart: map[string][]Needle{}, prefixes: map[string]bool{}}
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

// filterBit is the bit of four bytes in the filter.
func filterBit(start uint32) uint32 {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	return start * spread >> 16
}

// four are the first four bytes of a text as one number.
func four(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// unprintable says whether the byte at i is one that JSON and HTML have no form
// for: they write U+FFFD for NUL and for what is not UTF-8.
func unprintable(s string, i int) bool {
	if s[i] == 0 {
		return true
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return r == utf8.RuneError && n == 1
}

const replacement = string(utf8.RuneError)

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// fold writes every run of blanks as one space. A text of nearly nothing but
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

// search is one text that is searched.
type search struct {
	*Finder
	s string
	// steps is how much more work may be done.
	steps int
	found []Span
	// seen and todo are of the match under way.
	seen map[place]bool
	todo []place
	// These are used again and again.
	buffer  []reading
	row     row
	decoded []byte
	inner   *search
}

// place is how far a match has come: in the needle, and in the text.
type place struct{ needle, text int }

const (
	// A step is about a nanosecond's work: a byte that is compared. To look for
	// escape sequences takes as long as so many of them.
	leastSteps   = 1 << 20
	stepsPerByte = 256
	readingSteps = 64
	// maxEncodings is how many times over a text may be encoded.
	maxEncodings = 4
)

// Find lists the places of needles in a text. They may overlap, and are in no
// order. A text that takes too much work to search, which only a made-up one
// does, is one span from end to end. It is safe for concurrent use.
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

// find searches a text that may be encoded so many times over. With insideOnly
// it may just as well be no text at all: only what is found inside of words
// counts. The result is valid until the next call.
func (w *search) find(s string, encodings int, insideOnly bool) []Span {
	w.s, w.found, w.steps = s, w.found[:0], leastSteps+stepsPerByte*len(s)
	special := -1 // the next place where there is more than one reading
	for i := range len(s) {
		if special < i {
			for special = i; special < len(s) && !w.special(special); special++ {
			}
		}
		switch {
		case special < i+MinLength && special < len(s):
			w.keys(i, "", func(start string) { w.try(w.byStart[start], i, insideOnly) })
		case i+MinLength <= len(s):
			bit := filterBit(four(s[i : i+MinLength]))
			if w.filter[bit/64]>>(bit%64)&1 != 0 {
				w.try(w.byStart[s[i:i+MinLength]], i, insideOnly)
			}
		}
		if w.steps < 0 {
			break
		}
	}
	if encodings > 0 {
		w.rows(encodings)
	}
	if w.steps < 0 {
		return []Span{{From: 0, To: len(s), Part: true}}
	}
	return w.found
}

// special says whether the beginning of a needle may look otherwise there.
func (w *search) special(at int) bool {
	c := w.s[at]
	return escaped(w.s, at) || w.blanks && (isBlank(c) || c == '+') ||
		w.broken && c == replacement[0] && strings.HasPrefix(w.s[at:], replacement)
}

// keys visits the keys of byStart that the text at a place may begin with.
func (w *search) keys(at int, prefix string, visit func(start string)) {
	if len(prefix) >= MinLength {
		if start := prefix[:MinLength]; w.byStart[start] != nil {
			visit(start)
		}
		return
	}
	if w.steps -= readingSteps; at >= len(w.s) || !w.prefixes[prefix] {
		return
	}
	for _, r := range readings(nil, w.s, at, maxEscapes) {
		switch {
		case r.text == "":
			if prefix != "" {
				w.keys(r.end, prefix, visit)
			}
		case len(r.text) == 1 && isBlank(r.text[0]):
			if strings.HasSuffix(prefix, " ") {
				w.keys(r.end, prefix, visit)
			}
			w.keys(r.end, prefix+" ", visit)
		default:
			w.keys(r.end, prefix+r.text, visit)
			if r.text == replacement {
				w.brokenKeys(r.end, prefix, visit)
			}
		}
	}
	if strings.HasPrefix(w.s[at:], replacement) {
		w.brokenKeys(at+len(replacement), prefix, visit)
	}
}

// brokenKeys is keys behind a U+FFFD.
func (w *search) brokenKeys(at int, prefix string, visit func(start string)) {
	if !w.broken {
		return
	}
	w.keys(at, prefix+"\x00", visit)
	for c := utf8.RuneSelf; c < 0x100; c++ {
		w.keys(at, prefix+string([]byte{byte(c)}), visit)
	}
}

// try notes the first of the needles that is there.
func (w *search) try(needles []Needle, at int, insideOnly bool) {
	for _, n := range needles {
		if insideOnly && !n.Inside {
			continue
		}
		end := w.match(n.Text, at)
		if end < 0 || !n.Inside && !standsAlone(w.s, at, end) {
			continue
		}
		if n.Inside || !strings.HasPrefix(w.s[end:], "://") { // else a user named as the scheme
			w.found = append(w.found, Span{From: at, To: end, Value: n.Value})
		}
		return
	}
}

// match is where a needle ends that begins at a place; -1 when it does not
// begin there. Of several ends it is the last.
func (w *search) match(text string, from int) int {
	last := -1
	clear(w.seen)
	w.todo = append(w.todo[:0], place{0, from})
	for len(w.todo) > 0 && w.steps >= 0 {
		at := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if at = w.literal(text, at); at.needle == len(text) {
			last = max(last, at.text)
		}
		if at.text == len(w.s) || at.needle == len(text) || w.seen[at] {
			continue
		}
		if w.seen == nil {
			w.seen = map[place]bool{}
		}
		w.seen[at] = true
		w.branch(text, at)
	}
	return last
}

// literal goes on as far as there is one reading, which is the needle's.
func (w *search) literal(text string, at place) place {
	began := at.text
	for at.needle < len(text) && at.text < len(w.s) && text[at.needle] == w.s[at.text] &&
		text[at.needle] != ' ' && !escaped(w.s, at.text) {
		c := text[at.needle]
		if c == '+' && breaks(text[:at.needle]) || c == replacement[0] && unprintable(text, at.needle) {
			break // it may be one more blank, or the beginning of U+FFFD
		}
		at.needle++
		at.text++
	}
	w.steps -= at.text - began + 1
	return at
}

// branch goes on by every reading of what comes next.
func (w *search) branch(text string, at place) {
	c, want := w.s[at.text], text[at.needle]
	afterBlank := breaks(text[:at.needle])
	if c != want && !introduces(c) && !isBlank(c) && c != replacement[0] {
		return
	}
	for _, r := range w.readings(at.text) {
		switch {
		case len(r.text) == 1 && isBlank(r.text[0]):
			if afterBlank {
				w.todo = append(w.todo, place{at.needle, r.end})
			}
			if want == ' ' {
				w.todo = append(w.todo, place{at.needle + 1, r.end})
			}
		case strings.HasPrefix(text[at.needle:], r.text):
			w.todo = append(w.todo, place{at.needle + len(r.text), r.end})
		case r.text == replacement && unprintable(text, at.needle):
			w.todo = append(w.todo, place{at.needle + 1, r.end})
		}
	}
	if unprintable(text, at.needle) && strings.HasPrefix(w.s[at.text:], replacement) {
		w.todo = append(w.todo, place{at.needle + 1, at.text + len(replacement)})
	}
}

// breaks says whether a text ends with a blank, or with what YAML takes for the
// end of a line.
func breaks(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == ' ' || r == '\u2028' || r == '\u2029'
}

func (w *search) readings(at int) []reading {
	w.buffer = readings(w.buffer[:0], w.s, at, maxEscapes)
	w.steps -= readingSteps * len(w.buffer)
	return w.buffer
}

// standsAlone says whether no letter or digit is beside a place, apart from
// those of an escape sequence.
func standsAlone(s string, from, to int) bool {
	after, _ := utf8.DecodeRuneInString(s[to:])
	if inWord(after) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	return !inWord(before) || escapeEnds(s, from)
}

// escapeEnds says whether an escape sequence for something else than a letter
// or digit ends at a place: "\n", "%20", "\x0a", "\u0020".
func escapeEnds(s string, at int) bool {
	for _, length := range []int{2, 3, 4, 6} {
		if length > at || !introduces(s[at-length]) {
			continue
		}
		for _, r := range readings(nil, s[:at], at-length, 1)[1:] {
			if first, _ := utf8.DecodeRuneInString(r.text); r.end == at && !inWord(first) {
				return true
			}
		}
	}
	return false
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
