//go:build cluster

package trust

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// operation is an operation whose speed is measured, and the fraction of Helm 4's time
// that it may take.
type operation struct {
	name  string
	bound float64
	args  string // CHART stands for the chart, NAMESPACE for the namespace
}

// operations are listed in the order in which a release goes through them.
var operations = []operation{
	{"install", 0.55, "install many CHART --namespace NAMESPACE"},
	{"upgrade, one field of each object", 0.3, "upgrade many CHART --set mark=x --namespace NAMESPACE"},
	{"upgrade, nothing to do", 0.05, "upgrade many CHART --set mark=x --namespace NAMESPACE"},
	{"uninstall", 0.35, "uninstall many --namespace NAMESPACE"},
}

// BenchmarkSpeed runs the operations on 1,000 objects, with ours and Helm 4 in
// turn on the same control plane, and compares medians. Our times include planning
// with its dry runs. It is for a machine that does nothing else (make bench, make
// soak), with -benchtime 1x.
func BenchmarkSpeed(t *testing.B) {
	const perKind, rounds = 200, 5
	chart := clustertest.ManyObjects(t, perKind)
	programs := []string{clustertest.Program(t), cluster.Binaries.Helm4}
	runs := make(map[string][2][]clustertest.Usage)
	for range rounds {
		for i, program := range programs {
			namespace := cluster.Namespace(t)
			for _, o := range operations {
				args := strings.NewReplacer("CHART", chart, "NAMESPACE", namespace).Replace(o.args)
				u := cluster.Measure(t, program, strings.Fields(args)...)
				if u.ExitCode != 0 {
					t.Fatalf("%s %s: exit code %d\n%s", program, args, u.ExitCode, u.Stderr)
				}
				both := runs[o.name]
				both[i] = append(both[i], u)
				runs[o.name] = both
				settle(t, namespace)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| %d objects | ours | Helm 4.3.1 | part | at most | ours, peak memory | Helm's |\n|---|---|---|---|---|---|---|\n", perKind*clustertest.ManyKinds)
	for _, o := range operations {
		ours, helms := medianOf(runs[o.name][0]), medianOf(runs[o.name][1])
		part := float64(ours.Wall) / float64(helms.Wall)
		fmt.Fprintf(&table, "| %s | %.2f s | %.2f s | %.3f | %.2f | %d MB | %d MB |\n", o.name, ours.Wall.Seconds(), helms.Wall.Seconds(), part, o.bound, ours.MaxRSS/1e6, helms.MaxRSS/1e6)
		if part > o.bound {
			t.Errorf("%s takes %.3f of Helm's time, want at most %.3f", o.name, part, o.bound)
		}
		if ours.MaxRSS > helms.MaxRSS {
			t.Errorf("%s takes %d bytes of memory, Helm %d", o.name, ours.MaxRSS, helms.MaxRSS)
		}
	}
	report(t, "speed", table.String())
}

// settle waits until the controllers have seen what was written, so that no
// program pays for work that another one has left behind.
func settle(t testing.TB, namespace string) {
	t.Helper()
	for range 6000 {
		generations := cluster.Kubectl(t, "get", "deployments", "-n", namespace, "-o",
			`jsonpath={range .items[*]}{.metadata.generation}={.status.observedGeneration}{"\n"}{end}`)
		settled := true
		for line := range strings.Lines(generations) {
			wanted, seen, _ := strings.Cut(strings.TrimSpace(line), "=")
			settled = settled && wanted == seen
		}
		if settled {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the Deployments are not seen by their controller")
}

// medianOf returns the median of each figure separately.
func medianOf(runs []clustertest.Usage) (m clustertest.Usage) {
	by := func(figure func(clustertest.Usage) int64) int64 {
		figures := make([]int64, 0, len(runs))
		for _, u := range runs {
			figures = append(figures, figure(u))
		}
		slices.Sort(figures)
		return figures[len(figures)/2]
	}
	m.Wall = time.Duration(by(func(u clustertest.Usage) int64 { return int64(u.Wall) }))
	m.MaxRSS = by(func(u clustertest.Usage) int64 { return u.MaxRSS })
	return m
}
