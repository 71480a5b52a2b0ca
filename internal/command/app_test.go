package command

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
)

// The command that a line names has all of its flags, and commands that it does not name have none
// but can still be listed.
func TestALineHasItsCommandWhole(t *testing.T) {
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
	names := func(c *cli.Command) []string { return slices.Sorted(maps.Keys(argv.Index(c.Flags))) }
	for path, whole := range commands(p.app().Commands, "") {
		line := append(strings.Fields(path), "web", "--wait")
		got, known := commands(p.appFor(line).Commands, "")[path]
		if !known {
			t.Errorf("%s is not there", path)
			continue
		}
		if diff := cmp.Diff(names(whole), names(got)); diff != "" {
			t.Errorf("flags of %s: -whole +for the line:\n%s", path, diff)
		}
		if got.Usage != whole.Usage || got.CustomHelpTemplate != whole.CustomHelpTemplate {
			t.Errorf("%s is described in another way", path)
		}
	}
	var usages []string
	for _, c := range p.appFor([]string{"list", "-A"}).Commands {
		usages = append(usages, c.Name+c.Usage)
		if c.Name == "plan" && len(c.Flags)+len(c.Subcommands) > 0 {
			t.Error("plan has flags and commands that list does not need")
		}
	}
	var all []string
	for _, c := range p.app().Commands {
		all = append(all, c.Name+c.Usage)
	}
	if diff := cmp.Diff(all, usages); diff != "" {
		t.Error(diff)
	}
}
