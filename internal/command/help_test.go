package command

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/helptext"
)

// Help fits the terminal: only examples, the words of a usage line and single long words may be wider.
func TestHelpFitsTheTerminal(t *testing.T) {
	cli.FlagStringer = helptext.FlagLine // as Main does
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
