package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// build makes the program as people get it, without the race detector, once a
// suite. Scripts run the test binary itself, race detector and all.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(builtIn(), "kubectl-release")
	command := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return path, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// built is the path of the program.
func built(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// builtIn is the folder of the program, one a test process.
func builtIn() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("kubectl-release-test-%d", os.Getpid()))
}

// removeBuilt removes the program at the end of the suite.
func removeBuilt() { _ = os.RemoveAll(builtIn()) }
