// Package textwidth counts the columns of a terminal that text takes, and cuts text to so many.
//
// It expects text without control characters, see internal/escape.
package textwidth

import (
	"unicode"

	"golang.org/x/text/width"
)

// Of returns how many columns a text takes.
func Of(s string) int {
	n := 0
	for _, r := range s {
		n += ofRune(r)
	}
	return n
}

// ofRune returns 2 for East Asian wide characters, https://www.unicode.org/reports/tr11/, and 0 for those that
// combine with the character before them.
func ofRune(r rune) int {
	const firstCombining = 0x300
	if r < firstCombining {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Cut shortens a text to at most limit columns and ends it with an ellipsis; a limit below 1 is none.
func Cut(s string, limit int) string {
	if limit < 1 || Of(s) <= limit {
		return s
	}
	return Head(s, limit-1) + "…"
}

// Head returns the beginning of a text that takes at most limit columns.
func Head(s string, limit int) string {
	for i, r := range s {
		if limit -= ofRune(r); limit < 0 {
			return s[:i]
		}
	}
	return s
}

// Tail returns the end of a text that takes at most limit columns.
func Tail(s string, limit int) string {
	surplus := Of(s) - limit
	for i, r := range s {
		n := ofRune(r)
		if surplus <= 0 && n > 0 {
			return s[i:]
		}
		surplus -= n
	}
	return ""
}
