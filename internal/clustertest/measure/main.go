// Command measure runs a program and prints what it used, as JSON with the fields of
// clustertest.Usage. Linux includes the memory of the process that starts a program in the
// program's peak (setmax_mm_hiwater_rss in fs/exec.c), and a test is a large process. Therefore
// this one runs in between, and imports only the standard library, to stay small.
//
// Usage:
//
//	measure PROGRAM [ARGUMENT]...
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// endless is how long a run may take before it is killed.
const endless = 10 * time.Minute

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: measure PROGRAM [ARGUMENT]...")
		os.Exit(2)
	}
	var stdout, stderr strings.Builder
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdout, command.Stderr = &stdout, &stderr
	began := time.Now()
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kill := time.AfterFunc(endless, func() { _ = command.Process.Kill() })
	_ = command.Wait() // the exit code says it all
	kill.Stop()
	state := command.ProcessState
	usage := map[string]any{
		"ExitCode": state.ExitCode(), "Began": began, "Wall": time.Since(began), "CPU": state.UserTime() + state.SystemTime(),
		"Stdout": stdout.String(), "Stderr": stderr.String(),
	}
	if used, ok := state.SysUsage().(*syscall.Rusage); ok {
		peak := used.Maxrss
		if runtime.GOOS == "linux" {
			peak <<= 10 // KiB there, bytes elsewhere
		}
		usage["MaxRSS"] = peak
	}
	if err := json.NewEncoder(os.Stdout).Encode(usage); err != nil {
		os.Exit(1)
	}
}
