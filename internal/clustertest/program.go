package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program builds kubectl-release as it is released, without the race detector, once
// per test process, and returns its path. Main removes it at the end of the suite.
func Program(t testing.TB) string {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildProgram = sync.OnceValues(func() (string, error) { return Build("kubectl-release") })

// Controller builds kubectl-release-controller, as Program builds kubectl-release.
func Controller(t testing.TB) string {
	t.Helper()
	path, err := buildController()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildController = sync.OnceValues(func() (string, error) { return build(module+"/controller", "kubectl-release-controller") })

const module = "github.com/kubectl-release/kubectl-release"

// Build builds kubectl-release under the given name, with additional go build flags,
// and returns its path. Main removes it as well.
func Build(name string, flags ...string) (string, error) { return build(module, name, flags...) }

// begin is the folder in which the test process started, that of its package, from which go finds
// the module. The test may have changed the current folder by the time it builds the program.
var begin, _ = os.Getwd()

// build makes go run copy the program instead of running it: unlike go build, go run keeps the
// linked program in the build cache, and a dozen suites need the same program.
func build(what, name string, flags ...string) (string, error) {
	path := filepath.Join(programFolder(), name)
	if err := os.MkdirAll(programFolder(), 0o755); err != nil {
		return "", fmt.Errorf("make a folder for %s: %w", name, err)
	}
	args := append([]string{"run", "-tags", "urfave_cli_no_docs", "-exec", "cp"}, flags...) // as packaging/goreleaser.yaml has it
	command := exec.Command("go", append(args, what, path)...)
	command.Env, command.Dir = append(os.Environ(), "CGO_ENABLED=0"), begin
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// programFolder returns the folder for built programs, one per test process.
func programFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("kubectl-release-test-%d", os.Getpid()))
}

func removeProgram() { _ = os.RemoveAll(programFolder()) }
