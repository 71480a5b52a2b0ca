package haystack

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxEscapes is how many times over a text may be escaped: JSON in a JSON
// string, a URL in HTML.
const maxEscapes = 2

// reading is what a piece of a text stands for, and where the piece ends.
type reading struct {
	text string
	end  int
}

// readings appends what s[from:] may begin with: its first byte as it is, and
// what each escape sequence that begins there stands for. It knows those of Go,
// C, JSON, JavaScript, YAML, TOML, properties files, HTML, URLs, SQL, CSV and
// shells. levels is how many times over the text may be escaped.
//
// A sequence is read whether or not its language needs it: a piece of text does
// not tell what is escaped, and by whom.
func readings(out []reading, s string, from, levels int) []reading {
	out = append(out, reading{s[from : from+1], from + 1})
	if levels == 0 || !introduces(s[from]) {
		return out
	}
	e := escapes{s: s, out: out}
	e.sequences(from)
	if levels > 1 && (len(e.out) > len(out) || introduced(s[from+1:])) {
		e.out, e.levels = e.out[:len(out)], levels-1
		e.sequences(from)
	}
	return e.out
}

// introduced reports whether another escape sequence may begin within the length
// of one.
func introduced(s string) bool {
	const longest = len(`\U0001F600`)
	for i := range min(len(s), longest) {
		if introduces(s[i]) {
			return true
		}
	}
	return false
}

// introduces reports whether an escape sequence may begin with c.
func introduces(c byte) bool {
	switch c {
	case '\\', '&', '%', '+', '\'', '"', '$':
		return true
	}
	return false
}

// escaped reports whether s[at:] may have more than one reading. A plus sign,
// which stands for a blank in URLs, is left to the code that looks for blanks.
func escaped(s string, at int) bool {
	switch c := s[at]; c {
	case '\\', '&', '%':
		return true
	case '\'', '"', '$':
		if at+1 == len(s) {
			return false
		}
		next := s[at+1]
		return next == c || next == '\\' || next == '&' || next == '%' || next == '"' && c == '\''
	}
	return false
}

// escapes reads the escape sequences of a text whose characters may be escaped
// themselves, levels times over.
type escapes struct {
	s      string
	levels int
	out    []reading
}

func (e *escapes) yield(text string, end int) { e.out = append(e.out, reading{text, end}) }

// each visits the single bytes that may begin at s[at:].
func (e *escapes) each(at int, visit func(c byte, end int)) {
	switch {
	case at >= len(e.s):
	case e.levels == 0 || !introduces(e.s[at]):
		visit(e.s[at], at+1)
	default:
		for _, r := range readings(nil, e.s, at, e.levels) {
			if len(r.text) == 1 {
				visit(r.text[0], r.end)
			}
		}
	}
}

// word visits the places where want, beginning at a place, may end.
func (e *escapes) word(at int, want string, visit func(end int)) {
	if want == "" {
		visit(at)
		return
	}
	e.each(at, func(c byte, end int) {
		if c == want[0] {
			e.word(end, want[1:], visit)
		}
	})
}

// number visits numbers of exactly that many digits.
func (e *escapes) number(at, digits int, base, value rune, visit func(value rune, end int)) {
	if digits == 0 {
		visit(value, at)
		return
	}
	e.each(at, func(c byte, end int) {
		if d := digit(c); d >= 0 && d < base {
			e.number(end, digits-1, base, value*base+d, visit)
		}
	})
}

func digit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// sequences yields what the escape sequences that begin at s[from:] stand for.
func (e *escapes) sequences(from int) {
	e.each(from, func(c byte, at int) {
		switch c {
		case '\\':
			e.backslash(at)
		case '&':
			e.entity(at, "&")
		case '+':
			e.yield(" ", at)
		case '%':
			e.number(at, 2, 16, 0, func(v rune, end int) { e.yield(string([]byte{byte(v)}), end) })
			for _, rest := range []string{"EF%BF%BD", "ef%bf%bd"} {
				e.word(at, rest, func(end int) { e.yield(replacement, end) })
			}
			e.word(at, "%", func(end int) { e.yield("%", end) })
		case '\'': // doubled in YAML and SQL; a shell's string ends and begins again
			for _, rest := range []string{"'", `\''`, `"'"'`} {
				e.word(at, rest, func(end int) { e.yield("'", end) })
			}
		case '"', '$':
			e.word(at, string(c), func(end int) { e.yield(string(c), end) })
		}
	})
}

// entity reads an HTML entity from after its ampersand.
func (e *escapes) entity(at int, name string) {
	const longest = len("&#x10FFFF")
	e.each(at, func(c byte, end int) {
		switch {
		case c == ';':
			if text := html.UnescapeString(name + ";"); text != name+";" {
				e.yield(text, end)
			}
		case len(name) < longest && (c == '#' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'):
			e.entity(end, name+string(c))
		}
	})
}

// backslash reads an escape sequence from after its backslash.
func (e *escapes) backslash(from int) {
	if e.levels > 0 && from < len(e.s) && introduces(e.s[from]) {
		for _, r := range readings(nil, e.s, from, e.levels) {
			if len(r.text) > 1 {
				e.yield(r.text, r.end)
			}
		}
	}
	e.each(from, func(c byte, at int) {
		if text := named(c); text != "" {
			e.yield(text, at)
		}
		switch {
		case c == '\n': // YAML continues on the next line, which is indented
			for at < len(e.s) && (e.s[at] == ' ' || e.s[at] == '\t') {
				at++
			}
			e.yield("", at)
		case c == replacement[0] && strings.HasPrefix(e.s[at:], replacement[1:]):
			e.yield(replacement, at+len(replacement)-1)
		case c == 'x':
			e.number(at, 2, 16, 0, func(v rune, end int) {
				e.yield(string([]byte{byte(v)}), end)
				if v >= utf8.RuneSelf {
					e.yield(string(v), end)
				}
			})
		case c == 'u':
			e.number(at, 4, 16, 0, e.unit)
			e.word(at, "{", func(end int) { e.braced(end, 0, 0) })
		case c == 'U':
			e.number(at, 8, 16, 0, e.rune)
		case c >= '0' && c <= '3':
			e.number(at, 2, 8, digit(c), func(v rune, end int) { e.yield(string([]byte{byte(v)}), end) })
		}
	})
}

// named returns what a character after a backslash stands for, "" for nothing;
// punctuation stands for itself.
func named(c byte) string {
	const letters, meanings = "abefnrtv0", "\a\b\x1b\f\n\r\t\v\x00"
	if i := strings.IndexByte(letters, c); i >= 0 {
		return meanings[i : i+1]
	}
	switch c {
	case 'N':
		return "\u0085"
	case 'L':
		return "\u2028"
	case 'P':
		return "\u2029"
	case '_': // YAML's; elsewhere it means the underscore, which needs no escape
		return "\u00a0"
	}
	if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
		return ""
	}
	return string([]byte{c})
}

func (e *escapes) rune(r rune, end int) {
	if utf8.ValidRune(r) {
		e.yield(string(r), end)
	}
}

// unit takes a unit of UTF-16, which may be half a character.
func (e *escapes) unit(v rune, at int) {
	if !utf16.IsSurrogate(v) {
		e.rune(v, at)
		return
	}
	e.word(at, `\u`, func(at int) {
		e.number(at, 4, 16, 0, func(low rune, end int) {
			if r := utf16.DecodeRune(v, low); r != utf8.RuneError {
				e.yield(string(r), end)
			}
		})
	})
}

// braced reads the rest of \u{1f600}.
func (e *escapes) braced(at, digits int, value rune) {
	const most = 6
	e.each(at, func(c byte, end int) {
		switch d := digit(c); {
		case c == '}' && digits > 0:
			e.rune(value, end)
		case d >= 0 && digits < most:
			e.braced(end, digits+1, value*16+d)
		}
	})
}
