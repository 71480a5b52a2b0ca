package clustertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Usage is what one run of a program took.
type Usage struct {
	ExitCode int
	Wall     time.Duration
	CPU      time.Duration // user and system
	MaxRSS   int64         // bytes
	Stdout   string
	Stderr   string
}

// Measure runs a program against the cluster and measures it, as the function
// Measure does.
func (c *Cluster) Measure(t testing.TB, program string, args ...string) Usage {
	t.Helper()
	return Measure(t, c.Environment(), program, args...)
}

// Measure runs a program and measures it. Linux counts a child's memory from that
// of its parent, and the parent, with a whole suite in it, is large: so a small
// process stands between the two, which is this binary again (see Main).
func Measure(t testing.TB, environment []string, program string, args ...string) Usage {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var failure strings.Builder
	between := &exec.Cmd{Path: own, Args: append([]string{measuredName, program}, args...), Env: environment, Stderr: &failure}
	out, err := between.Output()
	if err != nil {
		t.Fatalf("measure %s: %v\n%s", program, err, failure.String())
	}
	var u Usage
	if err := json.Unmarshal(out, &u); err != nil {
		t.Fatalf("measure %s: %v", program, err)
	}
	return u
}

// Limits is what a run of a program may take at most; zero is no limit.
type Limits struct {
	CPU    time.Duration // user and system
	MaxRSS int64         // bytes
}

// MeasureWithin measures a run that changes nothing, and fails the test when it takes more than
// the limits three times in a row: when the garbage collector gets its turn is chance on a busy
// machine, and what is really too much is so each time. It returns the last run.
func MeasureWithin(t testing.TB, most Limits, environment []string, program string, args ...string) Usage {
	t.Helper()
	const attempts = 3
	for attempt := 1; ; attempt++ {
		u := Measure(t, environment, program, args...)
		t.Logf("%v: %v, %v of a processor, %d MB, exit code %d", args, u.Wall.Round(time.Millisecond), u.CPU.Round(time.Millisecond), u.MaxRSS/1e6, u.ExitCode)
		if within(u.CPU, most.CPU) && within(u.MaxRSS, most.MaxRSS) {
			return u
		}
		if attempt == attempts {
			t.Errorf("%v took %v of a processor and %d MB, want at most %v and %d MB", args, u.CPU, u.MaxRSS/1e6, most.CPU, most.MaxRSS/1e6)
			return u
		}
	}
}

func within[N time.Duration | int64](used, most N) bool { return most == 0 || used <= most }

// measuredName is the name under which this binary measures a program.
const measuredName = "measured"

// endless is when a run is given up.
const endless = 10 * time.Minute

// runMeasured runs its arguments as a program and prints the usage.
func runMeasured() {
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
	u := Usage{ExitCode: command.ProcessState.ExitCode(), Wall: time.Since(began), CPU: command.ProcessState.UserTime() + command.ProcessState.SystemTime(), Stdout: stdout.String(), Stderr: stderr.String()}
	if used, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.MaxRSS = used.Maxrss
		if runtime.GOOS == "linux" {
			u.MaxRSS <<= 10
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(u); err != nil {
		os.Exit(1)
	}
}
