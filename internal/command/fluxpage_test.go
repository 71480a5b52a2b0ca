package command

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/flux.md are those that testdata/offline/flux.txtar runs.
func TestFluxPageShowsCommandsThatAreRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/flux.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/offline/flux.txtar")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^ *kubectl release (plan many [^>\n]*)`).FindAllStringSubmatch(string(page), -1)
	for _, c := range commands {
		if !strings.Contains(string(script), "kubectl-release "+strings.TrimSpace(c[1])) {
			t.Errorf("nothing runs kubectl release %s", c[1])
		}
	}
	if len(commands) < 5 {
		t.Errorf("%d commands", len(commands))
	}
}
