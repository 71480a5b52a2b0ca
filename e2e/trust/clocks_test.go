//go:build cluster

package trust

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// onMachine returns the command line that runs our program as on a machine whose clock is
// ahead of the real time. If ahead is not 0, it is another build of the program, which differs
// only in the clock.
func onMachine(t testing.TB, ahead time.Duration, args ...string) []string {
	t.Helper()
	if ahead == 0 {
		return append([]string{clustertest.Program(t)}, args...)
	}
	program, err := skewedProgram()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"env", "TRUST_CLOCK_AHEAD=" + ahead.String(), program}, args...)
}

var skewedProgram = sync.OnceValues(func() (string, error) {
	real, err := filepath.Abs(filepath.Join("..", "..", "releasestore", "systemclock.go"))
	if err != nil {
		return "", fmt.Errorf("find the clock: %w", err)
	}
	skewed, err := filepath.Abs(filepath.Join("testdata", "skewedclock", "systemclock.go"))
	if err != nil {
		return "", fmt.Errorf("find the skewed clock: %w", err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{real: skewed}})
	if err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	file, err := os.CreateTemp("", "overlay-*.json")
	if err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := file.Write(overlay); err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	if err := file.Close(); err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	return clustertest.Build("kubectl-release-skewed", "-overlay", file.Name())
})

// clockCommands returns this command:
//
//	clock AHEAD
//
// From here on $RELEASE runs as on a machine whose clock is ahead of the real time by AHEAD,
// such as -5m. Helm cannot be built with our clock: it runs as usual.
func clockCommands(s *stage) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"clock": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: clock AHEAD")
			}
			ahead, err := time.ParseDuration(args[0])
			ts.Check(err)
			if s.hand.name != "ours" {
				return
			}
			line := ""
			for _, word := range onMachine(s.TB, ahead) {
				line += " '" + word + "'"
			}
			path := ts.MkAbs("kubectl-release" + args[0])
			// A program that another test starts in the meantime would hold the script open for
			// writing, so that it could not be run: https://go.dev/issue/22315.
			syscall.ForkLock.RLock()
			err = os.WriteFile(path, []byte("#!/bin/sh\nexec"+line+" \"$@\"\n"), 0o755)
			syscall.ForkLock.RUnlock()
			ts.Check(err)
			ts.Setenv("RELEASE", path)
		},
	}
}
