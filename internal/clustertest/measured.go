package clustertest

import (
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Usage is what one run of a program used, with its result.
type Usage struct {
	ExitCode int
	Began    time.Time
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

// Measure runs a program and measures it, through a small process that does nothing
// else: see the command measure.
func Measure(t testing.TB, environment []string, program string, args ...string) Usage {
	t.Helper()
	measure, err := buildMeasure()
	if err != nil {
		t.Fatal(err)
	}
	var failure strings.Builder
	between := exec.Command(measure, append([]string{program}, args...)...)
	between.Env, between.Stderr = environment, &failure
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

var buildMeasure = sync.OnceValues(func() (string, error) { return build(module+"/internal/clustertest/measure", "measure") })

// Limits is what a run of a program may use at most; zero means no limit.
type Limits struct {
	CPU    time.Duration // user and system
	MaxRSS int64         // bytes
}

// MeasureWithin measures a run that changes nothing, and fails the test if it exceeds the limits
// three times in a row: on a busy machine it is chance when the garbage collector runs, and what
// is really too much will be so each time. It returns the last run.
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
