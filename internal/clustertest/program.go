package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program builds kubectl-release as people get it, without the race detector,
// once a test process, and returns its path. Main removes it at the end of the
// suite.
func Program(t testing.TB) string {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programFolder(), "kubectl-release")
	command := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/kubectl-release/kubectl-release")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// programFolder is the folder of the program, one a test process.
func programFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("kubectl-release-test-%d", os.Getpid()))
}

func removeProgram() { _ = os.RemoveAll(programFolder()) }
