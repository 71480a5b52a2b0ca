//go:build cluster

package sources_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// benchRuns is how often each tool does a task, alternating with the other one.
const benchRuns = 5

// benchTask is a task that both tools do, each in a home of its own.
type benchTask struct {
	name string
	args []string
	// before prepares a home for each run.
	before func(h *home)
	// asked returns the number of requests since its last call.
	asked func() int
	// cpu, wall, memory in bytes and requests are the goals for our program, 0 for none.
	cpu, wall time.Duration
	memory    int64
	requests  int
}

// BenchmarkSources prints medians of whole processes side by side with Helm 4's (make bench). It fails
// when a goal is missed, which can happen on a busy machine.
func BenchmarkSources(b *testing.B) {
	binaries, err := binaries()
	must(b, err)
	helms, ours, own := newHome(b), newHome(b), program(b)
	var table strings.Builder
	fmt.Fprintf(&table, "medians of %d runs, whole processes, in turn\n\n%-38s %9s %9s %9s %9s %8s %8s %9s %9s\n", benchRuns, "",
		"helm ms", "ours ms", "helm cpu", "ours cpu", "helm MB", "ours MB", "helm req.", "ours req.")
	for _, task := range benchTasks(b, helms, ours) {
		var used [2]benchMedian
		for range benchRuns {
			for i, tool := range []struct {
				*home
				program string
			}{{helms, binaries.Helm4}, {ours, own}} {
				task.before(tool.home)
				task.asked()
				b.Chdir(tool.dir)
				u := clustertest.Measure(b, tool.env, tool.program, task.args...)
				if u.ExitCode != 0 {
					b.Fatalf("%s %q: %s", tool.program, task.args, u.Stderr)
				}
				used[i] = append(used[i], benchRun{u.Wall, u.CPU, u.MaxRSS, task.asked()})
			}
		}
		helm, us := used[0].median(), used[1].median()
		fmt.Fprintf(&table, "%-38s %9d %9d %9d %9d %8d %8d %9d %9d\n", task.name, helm.wall.Milliseconds(), us.wall.Milliseconds(),
			helm.cpu.Milliseconds(), us.cpu.Milliseconds(), helm.memory/1e6, us.memory/1e6, helm.requests, us.requests)
		task.judge(b, us)
	}
	b.Log("\n" + table.String())
}

// judge checks our figures against the goals.
func (t benchTask) judge(b *testing.B, us benchRun) {
	b.Helper()
	if t.cpu > 0 && us.cpu > t.cpu || t.wall > 0 && us.wall > t.wall || t.memory > 0 && us.memory > t.memory || t.requests > 0 && us.requests > t.requests {
		b.Errorf("%s: %+v is beyond the goal", t.name, us)
	}
}

// benchRun is what one run used.
type benchRun struct {
	wall, cpu time.Duration
	memory    int64
	requests  int
}

type benchMedian []benchRun

// median returns the median of each figure.
func (m benchMedian) median() benchRun {
	at := len(m) / 2
	of := func(figure func(benchRun) int64) int64 {
		var all []int64
		for _, r := range m {
			all = append(all, figure(r))
		}
		slices.Sort(all)
		return all[at]
	}
	return benchRun{
		wall:     time.Duration(of(func(r benchRun) int64 { return int64(r.wall) })),
		cpu:      time.Duration(of(func(r benchRun) int64 { return int64(r.cpu) })),
		memory:   of(func(r benchRun) int64 { return r.memory }),
		requests: int(of(func(r benchRun) int64 { return int64(r.requests) })),
	}
}

// benchTasks returns what people do often, or wait for. Before each run, the last task deletes what was
// fetched.
func benchTasks(b *testing.B, homes ...*home) []benchTask {
	big, slow, registry := sourcetest.Serve(b, sourcetest.Options{}), sourcetest.Serve(b, sourcetest.Options{Delay: time.Second}), plainRegistry(b)
	archive := sourcetest.Chart(b, "chart-1000", "1.0.0", "")
	big.Put("/chart-1000-1.0.0.tgz", archive)
	big.Put("/index.yaml", sourcetest.Index(append(sourcetest.Many(15_000), sourcetest.Entry{Name: "chart-1000", Version: "1.0.0", URL: "chart-1000-1.0.0.tgz", Digest: sourcetest.Digest(archive)})...))
	slow.Publish(b, map[string][]string{"alpha": {"1.0.0"}, "beta": {"1.0.0"}, "gamma": {"1.0.0"}})
	for i, h := range homes {
		h.ok("repo", "add", "big", big.URL)
		h.umbrella("um", "{name: alpha, version: ^1, repository: '"+slow.URL+"'}", "{name: beta, version: ^1, repository: '"+slow.URL+"'}", "{name: gamma, version: ^1, repository: '"+slow.URL+"'}")
		if i == 0 {
			h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+registry.Host+"/charts")
		}
		h.ok("pull", "oci://"+registry.Host+"/charts/alpha", "--version", "1.0.0")
	}
	same := func(*home) {}
	served := func(r *sourcetest.Repository) func() int { return func() int { return len(r.Requests()) } }
	return []benchTask{
		{name: "show chart, index of 15,000 entries", args: []string{"show", "chart", "big/chart-1000"}, before: same, asked: served(big), cpu: 300 * time.Millisecond, memory: 80e6},
		{name: "repo update, nothing new", args: []string{"repo", "update", "big"}, before: same, asked: served(big), requests: 1},
		{name: "a tag pulled again", args: []string{"pull", "oci://" + registry.Host + "/charts/alpha", "--version", "1.0.0", "--plain-http"}, before: same, asked: func() int {
			defer registry.Forget()
			return len(registry.Asked())
		}, requests: 1},
		{name: "3 dependencies, 1 s for each answer", args: []string{"dependency", "update", "um"}, before: func(h *home) {
			for _, path := range []string{"um/charts", "um/Chart.lock", ".cache/helm", ".config/helm/repositories.yaml"} {
				must(b, os.RemoveAll(h.path(path)))
			}
		}, asked: served(slow), wall: 2500 * time.Millisecond},
	}
}
