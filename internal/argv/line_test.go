package argv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
)

// Flags may stand anywhere; what a program's rules say is in the errors. The lines that the program has to
// understand are in internal/command.
func TestFlagsStandAnywhere(t *testing.T) {
	rules := argv.Rules{
		OptionalValue:  map[string]string{"sort": "name"},
		SeparateValues: map[string][]string{"sort": {"age"}},
		Instead:        map[string]string{"mv": "use cp, then rm"},
		Lacking:        map[string]string{"ls --force": "nothing is written"},
		NoCommand:      map[string]string{"-u": "it is the user"},
	}
	for line, want := range map[string]string{
		"cp a b -r":        "cp --recursive -- a b",
		"-r -u ann cp a":   "cp --recursive --user=ann -- a",
		"ls --sort x":      "ls --sort=name -- x",
		"ls --sort age":    "ls --sort=age",
		"copy a -- -r":     "cp -- a -r",
		"-u":               "flag -u needs a value: it is the user",
		"ls -u":            "flag -u needs a value",
		"cp a --recusrive": "unknown flag --recusrive: did you mean --recursive?",
		"ls --force":       "unknown flag --force: nothing is written",
		"help mv":          `there is no command "mv": use cp, then rm`,
		"help pc":          `unknown command "pc": did you mean "cp"?`,
		"help format":      `unknown command "format": see files --help`,
	} {
		app := &cli.App{
			Name:  "files",
			Flags: []cli.Flag{&cli.StringFlag{Name: "user", Aliases: []string{"u"}}},
			Commands: []*cli.Command{
				{Name: "cp", Aliases: []string{"copy"}, Flags: []cli.Flag{&cli.BoolFlag{Name: "recursive", Aliases: []string{"r"}}}},
				{Name: "ls", Flags: []cli.Flag{&cli.StringFlag{Name: "sort"}}},
			},
		}
		parsed, err := rules.Parse(app, strings.Fields(line))
		got := strings.Join(parsed.Words(), " ")
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}
