package report

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/textwidth"
)

// cut shortens s to at most limit columns and ends it with an ellipsis.
func cut(s string, limit int) string { return textwidth.Cut(s, limit) }

// cutMiddle shortens s to at most limit columns and keeps both ends, one third from the
// beginning and two from the end.
func cutMiddle(s string, limit int) string {
	if limit < 3 || width(s) <= limit {
		return s
	}
	head := textwidth.Head(s, (limit-1)/3)
	return head + "…" + textwidth.Tail(s, limit-1-width(head))
}

func width(s string) int { return textwidth.Of(s) }

// pad appends spaces to s up to n columns.
func pad(s string, n int) string {
	if missing := n - width(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}
