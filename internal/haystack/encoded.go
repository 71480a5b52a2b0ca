package haystack

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// minEncoded is the length from which a needle is found in encoded text.
const minEncoded = 8

// encoding writes arbitrary bytes as digits of a fixed number of bits.
type encoding struct {
	bits int
	// digit returns a digit's value, -1 for other characters.
	digit func(c byte) int
	// group is how many digits it takes until a byte and a digit begin together again.
	group int
	// least is from how many digits on it is worth decoding them.
	least int
}

// encodings returns base64, in the standard and the URL alphabet, base32 and hex.
// The digits of the first include those of the others.
func encodings() [3]encoding {
	const byteBits = 8
	least := func(bits int) int { return (byteBits*minEncoded + bits - 1) / bits }
	return [...]encoding{{6, digit64, 4, least(6)}, {5, digit32, 8, least(5)}, {4, digit16, 2, least(4)}}
}

func digit64(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return -1
}

func digit32(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= '2' && c <= '7':
		return int(c-'2') + 26
	}
	return -1
}

func digit16(c byte) int { return int(digit(c)) }

// row is a row of digits, and where in the text each of them begins. The last
// element of at is where the row ends.
type row struct {
	digits []byte
	at     []int
}

// rows searches what the text's rows of digits stand for.
func (w *search) rows(nested int) {
	least := encodings()[0].least
	for i := 0; i < len(w.s) && w.steps >= 0; {
		end := i
		for end < len(w.s) && digit64(w.s[end]) >= 0 {
			end++
		}
		if end-i < least && !hides(w.s, end) { // most words
			i = end + 1
			continue
		}
		end, next := w.readRow(i)
		if w.steps -= end - i; len(w.row.digits) >= least {
			w.decode(w.row, nested)
		}
		i = max(next, i+1)
	}
}

// hides reports whether the escape sequence of a digit, or of a line break, may
// begin at a place.
func hides(s string, at int) bool {
	if at+1 >= len(s) {
		return false
	}
	next := s[at+1]
	switch s[at] {
	case '\\':
		return strings.IndexByte("/+-_ux0123\\&%nr\n", next) >= 0
	case '&':
		return next == '#' || next == 'a' // &amp;
	case '%':
		return digit(next) >= 0
	}
	return false
}

// readRow reads the row of digits that begins at a place, and returns where it ends
// and where the next one may begin: what was read as an escape sequence may not be
// one. Lines of the lengths at which encoders break are joined into one row, with or
// without a bar before each of them.
func (w *search) readRow(i int) (end, next int) {
	const shortLine = 60
	w.row.digits, w.row.at = w.row.digits[:0], w.row.at[:0]
	line := 0
	next = len(w.s)
	for i < len(w.s) {
		c, end := w.digit(i)
		breaks := c == '\n' || c == '\r'
		switch {
		case w.s[i] == bar[0] && line == 0 && len(w.row.digits) > 0:
			end = i + 1
		case end < 0, isBlank(c) && line > 0 && (!breaks || line < shortLine):
			w.row.at = append(w.row.at, i)
			return i, min(i, next)
		case isBlank(c):
			line = 0
		default:
			w.row.digits, w.row.at = append(w.row.digits, c), append(w.row.at, i)
			line++
		}
		if end > i+1 {
			next = min(next, i+1)
		}
		i = end
	}
	w.row.at = append(w.row.at, i)
	return i, min(i, next)
}

// digit returns the digit or blank at a place, and where it ends; -1 when there is
// none. Of several readings it takes the longest.
func (w *search) digit(at int) (byte, int) {
	c := w.s[at]
	if digit64(c) >= 0 || isBlank(c) {
		return c, at + 1
	}
	if !hides(w.s, at) {
		return 0, -1
	}
	last := -1
	for _, r := range w.readings(at) {
		if len(r.text) == 1 && r.end > last && (digit64(r.text[0]) >= 0 || isBlank(r.text[0])) {
			c, last = r.text[0], r.end
		}
	}
	return c, last
}

// decode searches the row in each encoding that it may be in.
func (w *search) decode(r row, nested int) {
	for i, e := range encodings() {
		if i == 0 {
			w.decodeAs(e, r, nested)
			continue
		}
		for from := 0; from < len(r.digits); {
			to := from
			for to < len(r.digits) && e.digit(r.digits[to]) >= 0 {
				to++
			}
			if to-from >= e.least {
				w.decodeAs(e, row{r.digits[from:to], r.at[from : to+1]}, nested)
			}
			from = to + 1
		}
	}
}

// decodeAs searches what the row stands for. Where the encoded text begins is not
// known, so decoding is tried from each digit at which a byte may begin.
func (w *search) decodeAs(e encoding, r row, nested int) {
	if w.inner == nil {
		w.inner = &search{Finder: w.Finder}
	}
	for skip := range e.group {
		w.decoded = e.decode(w.decoded[:0], r.digits[skip:])
		if !w.worth(w.decoded) {
			continue
		}
		readable := skip == 0 && utf8.Valid(w.decoded)
		for _, found := range w.inner.find(string(w.decoded), nested-1, !readable) {
			if skip == 0 { // the whole row is one text, and the needle a part of it
				part := found.Part || found.From > 0 || found.To < len(bytes.TrimSpace(w.decoded))
				w.found = append(w.found, Span{From: r.at[0], To: w.padding(r.at[len(r.digits)]), Value: found.Value, Part: part})
				break
			}
			from, to := skip+8*found.From/e.bits, skip+(8*found.To+e.bits-1)/e.bits
			w.found = append(w.found, Span{From: r.at[from], To: r.at[to], Value: found.Value, Part: found.Part})
		}
	}
}

// worth reports whether a needle, or something encoded, may begin somewhere in the
// bytes: that rules out most bytes that are not text.
func (w *search) worth(text []byte) bool {
	digits := 0
	for i, c := range text {
		if digits++; digit64(c) < 0 {
			digits = 0
		}
		if digits >= minEncoded || introduces(c) || isBlank(c) || c == replacement[0] {
			return true
		}
		if i+MinLength <= len(text) {
			if bit := filterBit(binary.LittleEndian.Uint32(text[i:])); w.filter[bit/64]>>(bit%64)&1 != 0 {
				return true
			}
		}
	}
	return false
}

// decode appends the bytes that the digits stand for; bits beyond the last whole
// byte are dropped.
func (e encoding) decode(out, digits []byte) []byte {
	bits, have := 0, 0
	for _, c := range digits {
		bits, have = bits<<e.bits|e.digit(c), have+e.bits
		if have >= 8 {
			have -= 8
			out = append(out, byte(bits>>have))
			bits &= 1<<have - 1
		}
	}
	return out
}

// padding returns where the padding of an encoded text ends.
func (w *search) padding(at int) int {
	for at < len(w.s) {
		next := at
		for _, r := range w.readings(at) {
			if r.text == "=" {
				next = r.end
			}
		}
		if next == at {
			break
		}
		at = next
	}
	return at
}
