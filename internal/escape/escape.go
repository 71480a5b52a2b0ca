// Package escape replaces what a terminal must not interpret, or what a reader
// could not see, with escape sequences.
//
// It knows nothing about markup: internal/report escapes Markdown and HTML.
package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text from charts and clusters safe for a terminal: control
// characters, direction marks, invisible characters and invalid UTF-8 become
// escape sequences. The result is a single line.
func Line(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case isPrintable(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// Message is Line for what is said in sentences, such as an error: what has several lines becomes one,
// without escape sequences for their ends.
func Message(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, Line(line))
		}
	}
	return strings.Join(lines, " ")
}

// Text is Line for text of several lines: newlines and tabs stay, and Windows
// line endings become newlines.
func Text(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(s, "\r\n", "\n")) {
		text, ended := strings.CutSuffix(line, "\n")
		for i, part := range strings.Split(text, "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Line(part))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Lines splits text into lines and applies Line to each; tabs become two spaces.
func Lines(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", "  ")
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range lines {
		lines[i] = Line(lines[i])
	}
	return lines
}

func isClean(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !isPrintable(r) {
			return false
		}
	}
	return true
}

// isPrintable reports whether r can be shown as it is: it excludes what moves
// the cursor, changes the direction of text or can't be seen. Unicode calls some
// characters without any shape letters, marks and symbols: those that "should be
// ignored in rendering" (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point),
// such as Hangul fillers, and the Braille pattern without dots.
func isPrintable(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r != 0x7f
	}
	const blankPattern = '\u2800'
	return unicode.IsGraphic(r) && r != blankPattern &&
		!unicode.In(r, unicode.Cf, unicode.Zs, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// JSON escapes invisible characters in a JSON text without changing its
// meaning. Apart from the newlines between its lines, such characters occur
// only in strings.
func JSON(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		r, n := utf8.DecodeRune(in[i:])
		switch {
		case r == '\n' || isPrintable(r):
			out = append(out, in[i:i+n]...)
		case r > 0xffff:
			high, low := surrogates(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

func surrogates(r rune) (high, low rune) {
	const first, lowest, bits = 0xd800, 0xdc00, 10
	r -= 0x10000
	return first + r>>bits, lowest + r&(1<<bits-1)
}
