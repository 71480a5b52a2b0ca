//go:build cluster

package e2e

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// A command that only reads ends on a signal, even while it waits for standard input.
func TestSignalEndsReading(t *testing.T) {
	command := exec.Command(clustertest.Program(t), "template", "web", "../testdata/charts/web", "-f", "-")
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
	// More than a pipe holds, so the program is reading once it has been written.
	if _, err := in.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // a program that goes on runs into the suite's timeout
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "stopped by a signal") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
