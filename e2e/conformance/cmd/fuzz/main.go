// Command fuzz renders small random charts with Helm and with us and compares
// the outputs. It prints every difference with its kind and seed, with which it
// can be reproduced.
//
//	go run ./cmd/fuzz --helm helm --ours kubectl-release --for 60s
//	go run ./cmd/fuzz --helm helm --ours kubectl-release --kind set --seed 7 --runs 1 --keep /tmp/set7
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/e2e/conformance/compare"
	"github.com/kubectl-release/kubectl-release/e2e/conformance/generate"
)

// retries is how often Helm renders a chart again that differs: what it renders
// differently from run to run (it ranges over maps) does not count as a difference.
const retries = 12

type options struct {
	sides  compare.Sides
	kinds  []string
	seed   uint64
	runs   uint64        // of each kind; 0 for no limit
	limit  time.Duration // for all together; 0 for no limit
	folder string        // the charts are written here
	keep   bool
}

// tally counts what became of the charts of one kind.
type tally struct{ charts, failed, random, different int }

func main() {
	o, err := flags()
	if err == nil {
		err = o.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func flags() (options, error) {
	o := options{kinds: generate.Kinds()}
	flag.StringVar(&o.sides.Helm, "helm", "helm", "Helm 4.3.1")
	flag.StringVar(&o.sides.Ours, "ours", "kubectl-release", "our binary")
	flag.StringVar(&o.sides.KubeVersion, "kube-version", "v1.36.3", "Kubernetes version, for both")
	kind := flag.String("kind", "", "only this kind: "+strings.Join(o.kinds, ", "))
	flag.Uint64Var(&o.seed, "seed", 0, "first seed; 0 takes one from the clock")
	flag.Uint64Var(&o.runs, "runs", 0, "how many seeds of each kind; 0 for no end")
	flag.DurationVar(&o.limit, "for", 0, "how long, all kinds together; 0 for no end")
	flag.StringVar(&o.folder, "keep", "", "folder to leave the charts in")
	flag.Parse()
	if *kind != "" {
		o.kinds = []string{*kind}
	}
	if o.runs == 0 && o.limit == 0 {
		o.runs = 1
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().Unix()) * 1_000_000
	}
	if o.keep = o.folder != ""; o.keep {
		abs, err := filepath.Abs(o.folder)
		o.folder = abs
		return o, err
	}
	dir, err := os.MkdirTemp("", "fuzz")
	o.folder = dir
	return o, err
}

// run goes through the kinds in turn, seed by seed.
func (o options) run(ctx context.Context) error {
	if !o.keep {
		defer func() { _ = os.RemoveAll(o.folder) }()
	}
	began := time.Now()
	tallies := map[string]*tally{}
	for _, kind := range o.kinds {
		tallies[kind] = &tally{}
	}
	fmt.Printf("seeds from %d\n", o.seed)
	for n := uint64(0); o.runs == 0 || n < o.runs; n++ {
		if o.limit > 0 && time.Since(began) >= o.limit {
			break
		}
		for _, kind := range o.kinds {
			if err := o.one(ctx, kind, o.seed+n, tallies[kind]); err != nil {
				return err
			}
		}
	}
	different := 0
	for _, kind := range o.kinds {
		t := tallies[kind]
		different += t.different
		fmt.Printf("%s: %d charts, %d that are an error, %d that Helm renders one way or another, %d that differ\n", kind, t.charts, t.failed, t.random, t.different)
	}
	fmt.Printf("%s\n", time.Since(began).Round(time.Second))
	if different > 0 {
		return fmt.Errorf("%d charts differ; --kind KIND --seed SEED --keep DIR makes one again", different)
	}
	return nil
}

func (o options) one(ctx context.Context, kind string, seed uint64, t *tally) error {
	made, err := generate.Make(kind, seed)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.folder, kind+strconv.FormatUint(seed, 10))
	if !o.keep {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	chart, args, err := made.Write(dir)
	if err != nil {
		return err
	}
	c := compare.Case{Chart: chart, Args: args}
	helm, ours := o.sides.Once(ctx, c)
	t.charts++
	if helm.Failure != "" {
		t.failed++
	}
	found := pair(helm, ours)
	if len(found) == 0 {
		return nil
	}
	for range retries {
		again, _ := o.sides.Once(ctx, c)
		if len(pair(again, ours)) == 0 || len(pair(again, helm)) > 0 {
			t.random++
			return nil
		}
	}
	t.different++
	fmt.Printf("--kind %s --seed %d: %q: %d differences\n  %v\n", kind, seed, slices.Clone(args), len(found), found[0])
	return nil
}

// pair compares two outputs that contain nothing random.
func pair(a, b compare.Output) []compare.Difference {
	return compare.Outputs([2]compare.Output{a, a}, [2]compare.Output{b, b})
}
