package haystack

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// search is the search of one text.
type search struct {
	*Finder
	s string
	// steps is how much more work may be done.
	steps int
	found []Span
	// seen and todo belong to the current match.
	seen map[place]bool
	todo []place
	// These are reused.
	buffer  []reading
	row     row
	decoded []byte
	inner   *search
}

// place is how far a match has got, in the needle and in the text.
type place struct{ needle, text int }

// find searches a text that may be encoded that many times over. With insideOnly
// it may just as well not be text at all: only needles that are found inside words
// count. The result is valid until the next call.
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
			if plain := s[i:special]; w.prefixes[plain] && !isBlank(s[i]) { // no needle begins with a blank
				w.keys(special, plain, func(start string) { w.try(start, i, insideOnly) })
			}
		case i+MinLength <= len(s):
			bit := filterBit(four(s[i : i+MinLength]))
			if w.filter[bit/64]>>(bit%64)&1 != 0 {
				w.try(s[i:i+MinLength], i, insideOnly)
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

// special reports whether the beginning of a needle may look different there.
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
		case r.text == bar && strings.HasSuffix(prefix, " "):
			w.keys(r.end, prefix, visit)
			fallthrough
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

// brokenKeys is keys after a U+FFFD.
func (w *search) brokenKeys(at int, prefix string, visit func(start string)) {
	if !w.broken {
		return
	}
	w.keys(at, prefix+"\x00", visit)
	for c := utf8.RuneSelf; c < 0x100; c++ {
		w.keys(at, prefix+string([]byte{byte(c)}), visit)
	}
}

// try records the first of the needles with that beginning that is there.
func (w *search) try(start string, at int, insideOnly bool) {
	needles := w.byStart[start]
	if o, many := w.orders[start]; many {
		for _, i := range w.candidates(needles, o, at) {
			if w.is(needles[i], at, insideOnly) {
				return
			}
		}
		return
	}
	for _, n := range needles {
		if w.is(n, at, insideOnly) {
			return
		}
	}
}

// is records a needle when it is there, and reports whether it is.
func (w *search) is(n Needle, at int, insideOnly bool) bool {
	if insideOnly && !n.Inside {
		return false
	}
	end := w.match(n.Text, at)
	if end < 0 || !n.Inside && !standsAlone(w.s, at, end) {
		return false
	}
	if n.Inside || !strings.HasPrefix(w.s[end:], "://") { // else it is a user named like the scheme
		w.found = append(w.found, Span{From: at, To: end, Value: n.Value})
	}
	return true
}

// match returns where a needle that begins at a place ends, -1 when it does not
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

// literal advances as far as there is only one reading and it is the needle's.
func (w *search) literal(text string, at place) place {
	began := at.text
	for at.needle < len(text) && at.text < len(w.s) && text[at.needle] == w.s[at.text] &&
		text[at.needle] != ' ' && !escaped(w.s, at.text) {
		c := text[at.needle]
		if (c == '+' || c == bar[0]) && breaks(text[:at.needle]) || c == replacement[0] && unprintable(text, at.needle) {
			break // it may be a blank, or the beginning of U+FFFD
		}
		at.needle++
		at.text++
	}
	w.steps -= at.text - began + 1
	return at
}

// branch goes on with every reading of what comes next.
func (w *search) branch(text string, at place) {
	c, want := w.s[at.text], text[at.needle]
	afterBlank := breaks(text[:at.needle])
	if c != want && !introduces(c) && !isBlank(c) && c != replacement[0] && (c != bar[0] || !afterBlank) {
		return
	}
	for _, r := range w.readings(at.text) {
		if r.text == bar && afterBlank {
			w.todo = append(w.todo, place{at.needle, r.end})
		}
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

// breaks reports whether a text ends with a blank, or with what YAML takes for a
// line break.
func breaks(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == ' ' || r == '\u2028' || r == '\u2029'
}

func (w *search) readings(at int) []reading {
	w.buffer = readings(w.buffer[:0], w.s, at, maxEscapes)
	w.steps -= readingSteps * len(w.buffer)
	return w.buffer
}

// standsAlone reports whether no letter or digit is next to a place, apart from
// those of an escape sequence.
func standsAlone(s string, from, to int) bool {
	after, _ := utf8.DecodeRuneInString(s[to:])
	if inWord(after) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	return !inWord(before) || escapeEnds(s, from)
}

// escapeEnds reports whether an escape sequence for something other than a letter
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
