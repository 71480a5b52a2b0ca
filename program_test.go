package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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

// A command that only reads ends at once on a signal, even where it waits for
// standard input or renders.
func TestSignalEndsReading(t *testing.T) {
	command := exec.Command(built(t), "template", "web", "testdata/charts/web", "-f", "-")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var errs strings.Builder
	command.Stderr = &errs
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // until it reads
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = command.Process.Kill()
		t.Fatal("it goes on")
	}
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "stopped by a signal") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
