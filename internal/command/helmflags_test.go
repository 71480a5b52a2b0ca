//go:build cluster

package command

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/invocation"
)

// Whoever comes from Helm keeps their command lines: each flag of each command of Helm 3.22.0
// and 4.3.1 that we have is declared and read by ours, or is in the table of those that do
// nothing, under all of its names, and with a value where Helm's has one.
func TestEveryFlagOfHelmIsTaken(t *testing.T) {
	binaries, err := clustertest.FindBinaries(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ours := commands((&program{invocation: invocation.Invocation{Program: "kubectl release"}}).app().Commands, "")
	helms, helms3, used, compared := helmHelp(t, binaries.Helm4, ""), helmHelp(t, binaries.Helm3, ""), map[string]bool{}, 0
	for _, path := range slices.Sorted(maps.Keys(ours)) {
		for _, f := range slices.Concat(helms[path], helms3[path]) {
			compared++
			known := argv.Index(ours[path].Flags)
			for _, name := range f.names {
				switch flag := known[name]; {
				case flag == nil:
					t.Errorf("%s: %s is unknown", path, name)
				case !f.takenBy(flag):
					t.Errorf("%s: %s is not written as Helm's %s", path, name, f.names[0])
				default:
					used[path+" "+flag.Names()[0]] = true
				}
			}
		}
		for _, f := range helmFlagsOf(path, nil) {
			if flag := argv.Index(ours[path].Flags)[f.name()]; helms[path] != nil && !used[path+" "+flag.Names()[0]] && !hides(t, binaries.Helm4, path, f.name()) && !hides(t, binaries.Helm3, path, f.name()) {
				t.Errorf("%s: the table has %s, and Helm has not", path, f.name())
			}
		}
	}
	for path := range helms {
		name, _, _ := strings.Cut(path, " ")
		if ours[path] == nil && lineRules.Instead[name] == "" && !slices.Contains(elsewhere, path) {
			t.Errorf("there is no command %s, and nothing says what to do instead", path)
		}
	}
	if compared < 1400 {
		t.Errorf("only %d flags were compared", compared)
	}
}

// elsewhere lists Helm's commands that are not commands of ours: completion takes its
// shell as an argument.
var elsewhere = []string{"", "completion bash", "completion zsh", "completion fish", "completion powershell"}

// hides reports whether Helm takes a flag that its help does not show.
func hides(t *testing.T, helm, path, flag string) bool {
	return exec.CommandContext(t.Context(), helm, append(strings.Fields(path), "--"+flag, "--help")...).Run() == nil
}

// helmsFlag is a flag as Helm's help shows it.
type helmsFlag struct {
	names           []string
	value, optional bool
}

// takenBy reports whether ours reads what is written for Helm's flag.
func (f helmsFlag) takenBy(flag cli.Flag) bool {
	_, optional := lineRules.OptionalValue[flag.Names()[0]]
	switch {
	case argv.IsSwitch(flag):
		return !f.value
	case optional:
		return !f.value || f.optional || lineRules.SeparateValues[flag.Names()[0]] != nil
	}
	return f.value && !f.optional
}

// helmLine is "  -n, --namespace string   namespace scope for this request".
var helmLine = regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([\w-]+)(?: ([^ \n]+))?  `)

// helmHelp asks Helm for its commands below parent and their flags.
func helmHelp(t *testing.T, helm, parent string) map[string][]helmsFlag {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), helm, append(strings.Fields(parent), "--help")...).Output()
	if err != nil {
		t.Fatalf("helm %s --help: %v", parent, err)
	}
	all := map[string][]helmsFlag{}
	for _, found := range helmLine.FindAllStringSubmatch(string(out), -1) {
		f := helmsFlag{names: []string{found[2]}, value: found[3] != "", optional: strings.Contains(found[3], "[=")}
		if found[1] != "" {
			f.names = append(f.names, found[1])
		}
		all[parent] = append(all[parent], f)
	}
	_, list, _ := strings.Cut(string(out), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if name := strings.Fields(line)[0]; name != "help" {
			maps.Copy(all, helmHelp(t, helm, strings.TrimSpace(parent+" "+name)))
		}
	}
	return all
}
