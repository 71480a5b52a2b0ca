//go:build cluster

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme runs every command that the README shows, in its order, in one
// namespace: what people copy must work.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(inTree("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := shown(string(text))
	if len(commands) < 10 {
		t.Fatalf("the README shows %d commands, which can't be all: %q", len(commands), commands)
	}
	namespace := cluster.Namespace(t)
	dir := t.TempDir()
	if err := os.Symlink(inTree("testdata"), filepath.Join(dir, "testdata")); err != nil {
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

// shown are the commands of a page's console blocks.
func shown(text string) []string {
	var commands []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return commands
}
