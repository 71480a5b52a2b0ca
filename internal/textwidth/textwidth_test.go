package textwidth_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/textwidth"
)

// East Asian characters take two columns, combining ones none, and neither is torn apart.
func TestTextIsCutByColumns(t *testing.T) {
	for _, c := range []struct {
		text            string
		width           int
		cut, head, tail string // to 4 columns
	}{
		{"", 0, "", "", ""},
		{"abcd", 4, "abcd", "abcd", "abcd"},
		{"abcdef", 6, "abc…", "abcd", "cdef"},
		{"über…", 5, "übe…", "über", "ber…"},
		{"設定の値", 8, "設…", "設定", "の値"},
		{"a設定b", 6, "a設…", "a設", "定b"},
		{"ｆｕ", 4, "ｆｕ", "ｆｕ", "ｆｕ"},
		{"e\u0301e\u0301e\u0301e\u0301e", 5, "e\u0301e\u0301e\u0301…", "e\u0301e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301e"},
	} {
		const limit = 4
		if n := textwidth.Of(c.text); n != c.width {
			t.Errorf("%q takes %d columns, want %d", c.text, n, c.width)
		}
		if cut, head, tail := textwidth.Cut(c.text, limit), textwidth.Head(c.text, limit), textwidth.Tail(c.text, limit); cut != c.cut || head != c.head || tail != c.tail {
			t.Errorf("%q: cut %q, head %q, tail %q", c.text, cut, head, tail)
		}
	}
	if got := textwidth.Cut("abcdef", 0); got != "abcdef" {
		t.Errorf("without a limit: %q", got)
	}
}
