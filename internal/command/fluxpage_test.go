package command

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/flux.md are those that testdata/offline runs, and its workflow is the
// one that actionlint checks.
func TestFluxPageShowsCommandsThatAreRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/flux.md")
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, name := range []string{"testdata/offline/flux.txtar", "testdata/offline/argo.txtar"} {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(script)
	}
	workflow, err := os.ReadFile("../../docs/ci/flux.yaml")
	if err != nil || !strings.Contains(string(page), string(workflow)) {
		t.Errorf("the page does not show docs/ci/flux.yaml: %v", err)
	}
	commands := regexp.MustCompile(`(?m)^ *kubectl release (plan many [^>\n]*)`).FindAllStringSubmatch(string(page), -1)
	for _, c := range commands {
		if !strings.Contains(scripts.String(), "kubectl-release "+strings.TrimSpace(c[1])) {
			t.Errorf("nothing runs kubectl release %s", c[1])
		}
	}
	if len(commands) < 6 {
		t.Errorf("%d commands", len(commands))
	}
}
