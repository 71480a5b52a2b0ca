package main_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// A command that only reads ends at once on a signal, even where it waits for
// standard input or renders.
func TestSignalEndsReading(t *testing.T) {
	command := exec.Command(clustertest.Program(t), "template", "web", "testdata/charts/web", "-f", "-")
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
