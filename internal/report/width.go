package report

import (
	"strings"
	"unicode/utf8"
)

// cut shortens s to at most limit characters and ends it with an ellipsis.
func cut(s string, limit int) string {
	if limit < 1 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}

// cutMiddle shortens s to at most limit characters and keeps both ends, one third from the
// beginning and two from the end.
func cutMiddle(s string, limit int) string {
	if limit < 3 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	head := (limit - 1) / 3
	return string(runes[:head]) + "…" + string(runes[len(runes)-(limit-1-head):])
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad appends spaces to s up to n characters.
func pad(s string, n int) string {
	if missing := n - width(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}
