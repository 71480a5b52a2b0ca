package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text from charts and clusters safe for a terminal: control
// characters, direction marks, invisible characters and invalid UTF-8 are
// written as escapes. The result is one line.
func clean(s string) string {
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
		case printable(r):
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

// cleanLines is clean for text of several lines; tabs become two spaces.
func cleanLines(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", "  ")
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return lines
}

func isClean(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !printable(r) {
			return false
		}
	}
	return true
}

// printable excludes what moves the cursor, turns the direction of text or
// can't be seen.
func printable(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Zs, r) &&
		!unicode.Is(unicode.Variation_Selector, r)
}

// cut shortens s to at most limit characters, with an ellipsis at its end.
func cut(s string, limit int) string {
	if limit < 1 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}

// cutMiddle shortens s to at most limit characters and keeps both ends, the
// last third more than the first.
func cutMiddle(s string, limit int) string {
	if limit < 3 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	head := (limit - 1) / 3
	return string(runes[:head]) + "…" + string(runes[len(runes)-(limit-1-head):])
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad fills s with spaces up to n characters.
func pad(s string, n int) string {
	if missing := n - width(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}
