// Command mutate renders real charts with some of their own values changed at
// random, with Helm and with us, and compares the outputs.
//
//	go run ./cmd/mutate --charts DIR --helm helm --ours kubectl-release --for 10m
//	go run ./cmd/mutate --charts DIR --helm helm --ours kubectl-release --only redis --seed 7 --runs 1 --keep /tmp/redis7
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/e2e/conformance/compare"
	"github.com/kubectl-release/kubectl-release/e2e/conformance/generate"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// retries is how often both render a chart again that differs: what Helm renders differently from
// run to run (it ranges over maps) does not count as a difference.
const retries = 4

type options struct {
	sides  compare.Sides
	charts []string
	seed   uint64
	runs   uint64        // of each chart; 0 for no limit
	limit  time.Duration // for all together; 0 for no limit
	folder string        // the values files are written here
}

// tally counts what became of the renderings.
type tally struct{ rendered, failed, different int }

func main() {
	var o options
	charts := flag.String("charts", "", "folder of charts")
	only := flag.String("only", "", "only charts whose name contains this")
	flag.StringVar(&o.sides.Helm, "helm", "helm", "Helm 4.3.1")
	flag.StringVar(&o.sides.Ours, "ours", "kubectl-release", "our binary")
	flag.StringVar(&o.sides.KubeVersion, "kube-version", "v1.36.3", "Kubernetes version, for both")
	flag.BoolVar(&o.sides.Notes, "notes", false, "compare notes too")
	flag.Uint64Var(&o.seed, "seed", 0, "first seed; 0 takes one from the clock")
	flag.Uint64Var(&o.runs, "runs", 0, "how many seeds for each chart; 0 for no end")
	flag.DurationVar(&o.limit, "for", 0, "how long, all charts together; 0 for no end")
	flag.StringVar(&o.folder, "keep", "", "folder to leave the values files in")
	flag.Parse()
	if o.runs == 0 && o.limit == 0 {
		o.runs = 1
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().Unix()) * 1_000_000
	}
	err := o.sides.Check()
	if err == nil {
		o.charts, err = find(*charts, *only)
	}
	if err == nil {
		err = o.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func find(folder, only string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read charts: %w", err)
	}
	var found []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tgz") && strings.Contains(e.Name(), only) {
			found = append(found, filepath.Join(folder, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no chart archive in %s has a name with %q", folder, only)
	}
	return found, nil
}

// run goes through the charts in turn, seed by seed.
func (o options) run(ctx context.Context) error {
	if o.folder == "" {
		dir, err := os.MkdirTemp("", "mutate")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		o.folder = dir
	}
	fmt.Printf("seeds from %d\n", o.seed)
	began, t := time.Now(), tally{}
seeds:
	for n := uint64(0); o.runs == 0 || n < o.runs; n++ {
		for _, path := range o.charts {
			if o.limit > 0 && time.Since(began) >= o.limit {
				break seeds
			}
			if err := o.one(ctx, path, o.seed+n, &t); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d renderings in %s, %d that are an error with Helm, %d that differ\n", t.rendered, time.Since(began).Round(time.Second), t.failed, t.different)
	if t.different > 0 {
		return fmt.Errorf("%d renderings differ; --only CHART --seed SEED --runs 1 --keep DIR makes one again", t.different)
	}
	return nil
}

// one renders a chart with one set of values, and prints a difference if there is any.
func (o options) one(ctx context.Context, path string, seed uint64, t *tally) error {
	loaded, _, err := chartload.Load(path, chartload.Options{})
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(generate.Mutate(seed, defaults(loaded)))
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".tgz")
	file := filepath.Join(o.folder, fmt.Sprintf("%s-%d.yaml", name, seed))
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	c := compare.Case{Name: name, Chart: path, Args: []string{"-f", file}, Values: values.Sources{Files: []string{file}}}
	var found []compare.Difference
	failed := false
	for range retries {
		helm, ours := o.sides.Run(ctx, c)
		failed = helm[0].Failure != ""
		if found = compare.Outputs(helm, ours); len(found) == 0 {
			break
		}
	}
	t.rendered++
	if failed {
		t.failed++
	}
	if len(found) > 0 {
		t.different++
		fmt.Printf("--only %s --seed %d: %d differences\n  %v\n", name, seed, len(found), found[0])
	}
	return nil
}

// defaults returns the values of a chart with those of its subcharts below their names.
func defaults(c *chart.Chart) map[string]any {
	out := map[string]any{}
	for k, v := range c.Values {
		out[k] = v
	}
	for _, sub := range c.Dependencies() {
		below := defaults(sub)
		if own, ok := out[sub.Name()].(map[string]any); ok {
			for k, v := range own {
				below[k] = v
			}
		}
		out[sub.Name()] = below
	}
	return out
}
