//go:build cluster

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// TestReadme runs every command that the README shows, in order, in one
// namespace: what people copy must work. Only the registry's address is different.
func TestReadme(t *testing.T) {
	t.Parallel()
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
	for _, folder := range []string{"testdata", "e2e"} {
		if err := os.Symlink(inTree(folder), filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	tools := pluginFolder(t)
	registry := strings.NewReplacer("127.0.0.1:5000", porttest.FreeAddress(t))
	for _, line := range commands {
		line = registry.Replace(line)
		// The README's reader has a namespace of their own in the context.
		script := "export PATH=" + tools + ":$PATH HELM_NAMESPACE=" + namespace + " HELM_CACHE_HOME=" + dir + "/cache HELM_CONFIG_HOME=" + dir + "/config; cd " + dir + "; " + line
		result := cluster.Run(t, "bash", "", "-c", script)
		if result.ExitCode != 0 {
			t.Fatalf("$ %s\nexit code %d\n%s%s", line, result.ExitCode, result.Stdout, result.Stderr)
		}
		t.Logf("$ %s\n%s", line, result.Stdout)
		if ends := registryEnds.FindStringSubmatch(result.Stdout); ends != nil {
			t.Cleanup(func() { _ = exec.Command("kill", ends[1]).Run() })
		}
	}
}

// The registry of the README does not outlive a script that fails.
func TestTheRegistryEndsIfNothingIsPushed(t *testing.T) {
	t.Parallel()
	tools, address := t.TempDir(), porttest.FreeAddress(t)
	if err := os.WriteFile(filepath.Join(tools, "kubectl-release"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(inTree("e2e", "demo", "registry.sh"), address)
	command.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := command.Run(); err == nil || command.ProcessState.ExitCode() != 3 {
		t.Fatal(err)
	}
	for range 100 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = c.Close()
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("a registry still listens at %s", address)
}

// registryEnds finds the process ID of the registry that e2e/demo/registry.sh starts.
var registryEnds = regexp.MustCompile(`kill (\d+) ends it`)

// shown returns the commands of a page's console blocks.
func shown(text string) []string {
	var commands []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return commands
}
