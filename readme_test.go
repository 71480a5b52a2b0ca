package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestReadme runs every command that the README shows, in its order, in one
// namespace: what people copy must work.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := shown(string(text))
	if len(commands) < 10 {
		t.Fatalf("the README shows %d commands, which can't be all: %q", len(commands), commands)
	}
	namespace := cluster.Namespace(t)
	dir := t.TempDir()
	if err := os.Symlink(absolute(t, "testdata"), filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	tools := pluginFolder(t)
	for _, line := range commands {
		// The README's reader has a namespace of their own in the context.
		script := "export PATH=" + tools + ":$PATH HELM_NAMESPACE=" + namespace + "; cd " + dir + "; " + line
		result := cluster.Run(t, "bash", "", "-c", script)
		if result.ExitCode != 0 {
			t.Fatalf("$ %s\nexit code %d\n%s%s", line, result.ExitCode, result.Stdout, result.Stderr)
		}
		t.Logf("$ %s\n%s", line, result.Stdout)
	}
}

// TestReadmeMakeTargets checks that every make target in the README exists; CI
// runs demo and test themselves.
func TestReadmeMakeTargets(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "make" {
			continue
		}
		if !strings.Contains(string(makefile), "\n"+words[1]+":") {
			t.Errorf("README says %q, and the Makefile has no target %s", strings.TrimSpace(line), words[1])
		}
	}
}

// shown are the commands of the README's console blocks.
func shown(text string) []string {
	var commands []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return commands
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// pluginFolder is a folder for PATH with kubectl-release, kubectl and helm.
func pluginFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range map[string]string{"kubectl-release": clustertest.Program(t), "helm": cluster.Binaries.Helm4, "kubectl": cluster.Binaries.Kubectl} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
