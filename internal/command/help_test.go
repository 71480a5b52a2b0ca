package command

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// Help fits the terminal: only examples, the words of a usage line and single long words may be wider.
func TestHelpFitsTheTerminal(t *testing.T) {
	cli.FlagStringer = FlagLine // as Main does
	for _, columns := range []int{64, 80, 120} {
		t.Setenv("COLUMNS", fmt.Sprint(columns))
		d := atDesk(t)
		for _, line := range []string{"--help", "plan --help", "plan many --help", "check --help", "get --help", "help repo", "options"} {
			examples, out := false, d.must(line).out
			for text := range strings.Lines(out) {
				text = strings.TrimSuffix(text, "\n")
				examples = text == "Examples:" || examples && text != ""
				if n := utf8.RuneCountInString(text); n > columns && !examples && len(strings.Fields(text)) > 1 {
					t.Errorf("%s has %d columns at %d: %s", line, n, columns, text)
				}
			}
		}
	}
}

// Words stay as they are, one meaning below the other, and examples can be pasted.
func TestHelpIsWrapped(t *testing.T) {
	const text = `Deploys charts. A paragraph that
was broken elsewhere.

Examples:
  kubectl release plan web ./chart -f prod.yaml   # what would happen

Flags:
  --out FILE                   save the plan in FILE, for apply
  --a-flag-with-a-long-name N  what does not fit beside it
`
	const want = `Deploys charts. A paragraph that was broken elsewhere.

Examples:
  kubectl release plan web ./chart -f prod.yaml   # what would happen

Flags:
  --out FILE                   save the plan in FILE, for
                               apply
  --a-flag-with-a-long-name N  what does not fit beside it
`
	if got := Fit(text, 61); got != want {
		t.Errorf("at 61 columns:\n%s", got)
	}
	if got := Fit(text, 45); !strings.Contains(got, "\n  --out FILE\n        save the plan in FILE, for apply\n") {
		t.Errorf("at 45 columns:\n%s", got)
	}
}
