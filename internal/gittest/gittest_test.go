package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// In a process that a hook has started, git works in the folder where it is, as nobody in particular.
func TestGitKnowsNothingOfTheDeveloper(t *testing.T) {
	const inside = "INSIDE"
	if os.Getenv(inside) != "" {
		for _, args := range [][]string{{"init", "-q"}, {"rev-parse", "--git-dir"}, {"config", "user.name"}} {
			out, _ := exec.Command("git", args...).Output()
			_, _ = os.Stdout.Write(out)
		}
		os.Exit(0)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte("[user]\nname = somebody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0], "-test.run", "^TestGitKnowsNothingOfTheDeveloper$")
	command.Dir, command.Env = dir, append(os.Environ(), inside+"=1", "GIT_DIR="+filepath.Join(dir, "theirs"), "GIT_CONFIG_GLOBAL="+config)
	if out, err := command.CombinedOutput(); err != nil || string(out) != ".git\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
