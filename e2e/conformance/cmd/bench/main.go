// Command bench measures whole processes, Helm's and ours in turn, and prints
// their medians alongside the goals. It can also write the individual runs in Go's
// benchmark format, so that benchstat can compare two commits.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	b := bench{}
	flag.StringVar(&b.helm, "helm", "", "Helm's binary")
	flag.StringVar(&b.ours, "ours", "", "our binary")
	flag.StringVar(&b.charts, "charts", "", "folder of charts; without it only the made-up chart is rendered")
	flag.StringVar(&b.out, "out", "", "file to write the runs to, for benchstat")
	flag.IntVar(&b.runs, "runs", 15, "how often each is run")
	flag.Parse()
	if err := b.all(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

type bench struct {
	helm, ours, charts, out string
	runs                    int
	lines                   []string
	missed                  []string
}

// task is what both tools do, and what fraction of Helm's time ours may take.
type task struct {
	name string
	args []string
	goal float64
}

func (b *bench) all() error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tasks, err := b.tasks(dir)
	if err != nil {
		return err
	}
	fmt.Printf("medians of %d runs, whole processes, in turn\n\n", b.runs)
	fmt.Printf("%-34s %10s %10s %7s %6s %10s %10s\n", "", "helm ms", "ours ms", "ratio", "goal", "helm MB", "ours MB")
	for _, t := range tasks {
		if err := b.compare(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if b.out != "" {
		if err := b.write(); err != nil {
			return err
		}
	}
	if len(b.missed) > 0 {
		return fmt.Errorf("beyond the goal: %q", b.missed)
	}
	return nil
}

func (b *bench) tasks(dir string) ([]task, error) {
	if err := writeTplChart(dir); err != nil {
		return nil, err
	}
	tasks := []task{
		{"version", []string{"version"}, 0.5},
		{"template of 2000 tpl, 2000 defines", []string{"template", "bench", dir}, 0.1},
	}
	if b.charts == "" {
		return tasks, nil
	}
	for _, name := range []string{"kube-prometheus-stack", "argo-cd", "airflow"} {
		found, err := filepath.Glob(filepath.Join(b.charts, "*-"+name+"-*.tgz"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no chart %s in %s", name, b.charts)
		}
		slices.Sort(found)
		tasks = append(tasks, task{"template of " + name, []string{"template", "bench", found[0]}, 0.5})
	}
	return tasks, nil
}
