//go:build cluster

package scale

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// table contains the runs for one number of objects, by operation and by who ran it: ours,
// Helm or the floor.
type table map[string]map[string][]clustertest.Usage

const ours, helms, floors = "ours", "helm", "floor"

func (t table) add(operation, who string, u clustertest.Usage) {
	if t[operation] == nil {
		t[operation] = map[string][]clustertest.Usage{}
	}
	t[operation][who] = append(t[operation][who], u)
}

// BenchmarkScale runs the operations with each of the -sizes, with ours, the floor and
// Helm 4 in turn on the same control plane, and writes the tables (make bench). Only the
// ratios within one run are meaningful.
func BenchmarkScale(b *testing.B) {
	chart := generatedChart(b)
	for _, objects := range numbers(b, "100,1000,10000,20000") {
		runs := table{}
		for round := range rounds(objects) {
			if round%2 == 0 { // whatever runs second finds a fuller store
				runOurs(b, runs, chart, objects)
				runTheFloor(b, runs, chart, objects)
			} else {
				runTheFloor(b, runs, chart, objects)
				runOurs(b, runs, chart, objects)
			}
			if round == 0 && objects <= *helmTo {
				runHelm(b, runs, chart, objects)
			}
		}
		clustertest.Report(b, filepath.Join("..", "..", "docs", "bench.md"), fmt.Sprintf("scale %d", objects), runs.text(objects), *update)
	}
}

// rounds returns how often each is run.
func rounds(objects int) int {
	if objects > 10_000 {
		return 1
	}
	return 3
}

func runOurs(b *testing.B, runs table, chart string, objects int) {
	program, namespace := clustertest.Program(b), cluster.Namespace(b)
	for _, o := range operations {
		runs.add(o.name, ours, measured(b, program, o.arguments(o.ours, chart, namespace, objects)))
	}
}

func runHelm(b *testing.B, runs table, chart string, objects int) {
	namespace := cluster.Namespace(b)
	for _, o := range operations {
		if o.helm != "" {
			runs.add(o.name, helms, measured(b, cluster.Binaries.Helm4, o.arguments(o.helm, chart, namespace, objects)))
		}
	}
}

// runTheFloor sends the minimum of requests that each operation needs.
func runTheFloor(b *testing.B, runs table, chart string, objects int) {
	f, program := newFloor(b), clustertest.Program(b)
	installed := rendered(b, program, chart, "--set", fmt.Sprintf("objects=%d", objects))
	changed := rendered(b, program, chart, "--set", fmt.Sprintf("objects=%d,mark=x", objects))
	runs.add(operations[1].name, floors, f.run(b, f.applies(installed)))
	runs.add(operations[2].name, floors, f.run(b, slices.Concat(f.lists(), f.applies(changed))))
	lists := f.run(b, f.lists())
	runs.add(operations[3].name, floors, lists)
	runs.add(operations[4].name, floors, lists)
	runs.add(operations[5].name, floors, f.run(b, slices.Concat(f.lists(), f.deletes(changed))))
}

func measured(b *testing.B, program string, args []string) clustertest.Usage {
	b.Helper()
	awaitQuiet(b)
	u := cluster.Measure(b, program, args...)
	if u.ExitCode != 0 {
		b.Fatalf("%s %s: exit code %d\n%s", filepath.Base(program), strings.Join(args, " "), u.ExitCode, u.Stderr)
	}
	return u
}

// text returns the table as Markdown.
func (t table) text(objects int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %d objects | ours | Helm 4.3.1 | part | floor | times the floor | ours, CPU | ours, memory | Helm's memory |\n|---|---|---|---|---|---|---|---|---|\n", objects)
	for _, o := range operations {
		of := t[o.name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.2f s | %d MB | %s |\n", o.name, times(of[ours]), times(of[helms]), part(of[ours], of[helms]),
			times(of[floors]), part(of[ours], of[floors]), median(of[ours], cpu).Seconds(), peak(of[ours]), memory(of[helms]))
	}
	return b.String()
}

func wall(u clustertest.Usage) time.Duration { return u.Wall }
func cpu(u clustertest.Usage) time.Duration  { return u.CPU }

func sorted(runs []clustertest.Usage, by func(clustertest.Usage) time.Duration) []time.Duration {
	var out []time.Duration
	for _, u := range runs {
		out = append(out, by(u))
	}
	slices.Sort(out)
	return out
}

func median(runs []clustertest.Usage, by func(clustertest.Usage) time.Duration) time.Duration {
	figures := sorted(runs, by)
	return figures[len(figures)/2]
}

// times formats the shortest, the median and the longest time.
func times(runs []clustertest.Usage) string {
	if len(runs) == 0 {
		return "–"
	}
	figures := sorted(runs, wall)
	if len(figures) == 1 {
		return fmt.Sprintf("%.2f s", figures[0].Seconds())
	}
	return fmt.Sprintf("%.2f / %.2f / %.2f s", figures[0].Seconds(), figures[len(figures)/2].Seconds(), figures[len(figures)-1].Seconds())
}

// part formats the ratio of the median times of the two.
func part(of, with []clustertest.Usage) string {
	if len(of) == 0 || len(with) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(median(of, wall))/float64(median(with, wall)))
}

func peak(runs []clustertest.Usage) int64 {
	return slices.MaxFunc(runs, func(a, b clustertest.Usage) int { return cmp.Compare(a.MaxRSS, b.MaxRSS) }).MaxRSS / 1e6
}

func memory(runs []clustertest.Usage) string {
	if len(runs) == 0 {
		return "–"
	}
	return fmt.Sprintf("%d MB", peak(runs))
}
