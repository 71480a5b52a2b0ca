//go:build cluster || dist

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/kubectl-release/kubectl-release/internal/gittest"
)

// actionlint is the program that Check 22 names; the Go checksum database verifies its source.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

// Check 22: actionlint finds nothing in our own workflows or in those of docs/ci, copied to where GitHub
// looks for them, beside action.yml; and it would find an input that the action does not have.
func TestWorkflowsPassActionlint(t *testing.T) {
	dir := t.TempDir()
	copied := func(from, to, old, with string) {
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(from)))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), []byte(strings.Replace(string(data), old, with, 1)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lint := func() (string, error) {
		command := exec.Command("go", "run", actionlint, "-shellcheck=", "-pyflakes=")
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	copied("action.yml", "action.yml", "", "")
	copied("docs/ci/github.yaml", ".github/workflows/github.yaml", "", "")
	copied("docs/ci/github-forks.yaml", ".github/workflows/github-forks.yaml", "", "")
	copied("docs/ci/flux.yaml", ".github/workflows/flux.yaml", "", "")
	copied(".github/workflows/release.yml", ".github/workflows/release.yml", "", "")
	copied(".github/workflows/vulnerabilities.yml", ".github/workflows/vulnerabilities.yml", "", "")
	if out, err := lint(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
	copied("docs/ci/github.yaml", ".github/workflows/wrong.yaml", "          chart: chart\n", "          chrt: chart\n")
	if out, err := lint(); err == nil || !strings.Contains(out, `input "chrt" is not defined in action`) {
		t.Errorf("an input that there is none of is not found: %v\n%s", err, out)
	}
}
