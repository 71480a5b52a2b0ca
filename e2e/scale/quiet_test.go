//go:build cluster

package scale

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// awaitQuiet waits until the machine is nearly idle: after a run, the API server and the controllers
// are busy for seconds with what it wrote, which would count as the next run's time. A machine that is
// never quiet, or has no /proc/stat, is measured as it is.
func awaitQuiet(t testing.TB) {
	t.Helper()
	const busy, patience = 0.1, 90 * time.Second
	since := time.Now()
	for before := processors(); time.Since(since) < patience; {
		time.Sleep(time.Second)
		now := processors()
		if now.total == before.total || 1-float64(now.idle-before.idle)/float64(now.total-before.total) < busy {
			return
		}
		before = now
	}
	t.Logf("the machine was still busy after %v", patience)
}

// ticks is how long the processors have run, and how long they were idle, in clock ticks.
type ticks struct{ total, idle int }

func processors() ticks {
	text, _ := os.ReadFile("/proc/stat") // proc_stat(5); nothing is read elsewhere
	line, _, _ := strings.Cut(string(text), "\n")
	var out ticks
	for i, field := range strings.Fields(strings.TrimPrefix(line, "cpu")) {
		n, _ := strconv.Atoi(field)
		out.total += n
		if i == 3 || i == 4 { // idle, and idle while waiting for a disk
			out.idle += n
		}
	}
	return out
}
