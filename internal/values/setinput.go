package values

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// input is the text of a --set style argument and how far it has been read.
type input struct {
	text string
	pos  int
	// literal treats backslashes as ordinary characters.
	literal bool
}

// until returns the text before the first stop rune, and that rune, which is consumed. A backslash
// escapes the next rune. ended reports whether there was no stop rune.
func (in *input) until(stops string) (text string, stop rune, ended bool) {
	var b strings.Builder
	for {
		r, ok := in.next()
		switch {
		case !ok:
			return b.String(), 0, true
		case strings.ContainsRune(stops, r):
			return b.String(), r, false
		case r == '\\' && !in.literal:
			if r, ok = in.next(); !ok {
				return b.String(), 0, true
			}
		}
		b.WriteRune(r)
	}
}

// next reads one rune; invalid UTF-8 is read as U+FFFD.
func (in *input) next() (rune, bool) {
	if in.pos >= len(in.text) {
		return 0, false
	}
	r, size := utf8.DecodeRuneInString(in.text[in.pos:])
	in.pos += size
	return r, true
}

// accept consumes r if it is next.
func (in *input) accept(r byte) bool {
	if in.pos < len(in.text) && in.text[in.pos] == r {
		in.pos++
		return true
	}
	return false
}

func (in *input) rest() string { return in.text[in.pos:] }

// blank consumes white space and one comma. It returns true if nothing else came before the comma
// or the end.
func (in *input) blank() bool {
	for {
		start := in.pos
		r, ok := in.next()
		if !ok || r == ',' {
			return true
		}
		if !unicode.IsSpace(r) {
			in.pos = start
			return false
		}
	}
}
