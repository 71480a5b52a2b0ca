package command

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
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

// A command that prints nothing does not fail because nothing can be printed; one that only prints does.
func TestNothingIsPrintedToAClosedOutput(t *testing.T) {
	chart := t.TempDir()
	t.Chdir(chart)
	if err := os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("{apiVersion: v2, name: web, version: 1.0.0}"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for line, want := range map[string]int{
		"template --output-dir out": exitDone, "show readme": exitDone, "show crds": exitDone,
		"show chart": exitError, "lint": exitError,
	} {
		var errs strings.Builder
		code := Main(t.Context(), nil, slices.Concat([]string{"kubectl-release"}, strings.Fields(line), []string{chart}), Streams{In: strings.NewReader(""), Out: closed, Err: &errs})
		if code != want {
			t.Errorf("%s: exit code %d, %s", line, code, errs.String())
		}
	}
}

// A run whose output can't be written, such as to a full disk, is carried out, and a warning says so.
func TestARunWhoseOutputIsLost(t *testing.T) {
	d := atDesk(t)
	closed, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, c := range []struct {
		line string
		want int
	}{
		{"install web ./web", exitDone},
		{"upgrade web ./web --set text=two -o json", exitDone},
		{"upgrade web ./web --set text=three -o yaml", exitDone},
		{"install other ./web -o json", exitError}, // its object belongs to web
	} {
		var errs strings.Builder
		p := newProgram(Streams{In: strings.NewReader(""), Out: terminal.Outlived(closed), Err: &errs}, "kubectl release")
		p.dial = func(*connectionFlags) (api, string, error) { return memory{d.Cluster, d.client}, "shop", nil }
		code := p.main(t.Context(), nil, append([]string{"kubectl-release"}, strings.Fields(c.line)...))
		if code != c.want || !strings.Contains(errs.String(), "Warning: the output is not complete: ") {
			t.Errorf("%s: exit code %d, %s", c.line, code, errs.String())
		}
	}
}

// TestFlagsAreLookedThroughOnce: what it takes to begin a command grows with the number of its flags, not
// with the square of that.
func TestFlagsAreLookedThroughOnce(t *testing.T) {
	begin := func() {
		streams := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		if Main(t.Context(), nil, []string{"kubectl-release", "template", "x", "no/such/chart"}, streams) == exitDone {
			t.Fatal("there is a chart")
		}
	}
	if n := testing.AllocsPerRun(3, begin); n > 20_000 {
		t.Errorf("beginning a command takes %.0f allocations", n)
	}
}
