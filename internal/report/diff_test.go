package report

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// A removed and a new line never look the same: what can't be seen is shown where it is all that differs,
// and only there.
func TestDiffsShowWhatCantBeSeen(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"line endings": {"a\nb\n", "a\r\nb\r\n", `@line 1|-a|-b|+a\r|+b\r`},
		"tabs":         {"a:\n  b\n", "a:\n\tb\n", `@line 1| a:|-  b|+\tb`},
		"blanks":       {"a\nb \n", "a\nb\n", `@line 1| a|-b\x20|+b`},
		"both ends":    {"a\nb  \n", "a\nb \r\n", `@line 1| a|-b\x20\x20|+b\x20\r`},
		"other text":   {"a\r\n\tb \r\n", "a\r\n\tc \r\n", `@line 1| a|-  b |+  c `},
		"moved":        {"\ta\nb\nc\n", "b\nc\n\ta\n", `@line 1|-  a| b| c|+  a`},
		"no newline":   {"a\nb\n", "a\nb", `@line 1| a|-b|+b| (no newline at the end)`},
		"removed":      {"a\nb\n", "", `@line 1|-a|-b`},
		"same":         {"a\nb\n", "a\nb\n", ""},
		"added":        {"", "a\nb\n", `@line 1|+a|+b`},
	} {
		lines, err := textDiff(plan.Change{From: c.from, To: c.to}, 3)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range lines {
			got = append(got, string(line.kind)+line.text)
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.want)
		}
	}
}
