// Command fuzz renders small charts made at random with Helm and with us and
// compares. Every difference is printed with its seed.
//
//	go run ./cmd/fuzz --helm helm --ours render --runs 200
//	go run ./cmd/fuzz --helm helm --ours render --seed 7 --keep /tmp/seed7
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kubectl-release/kubectl-release/conformance/compare"
	"github.com/kubectl-release/kubectl-release/conformance/generate"
)

func main() {
	var sides compare.Sides
	flag.StringVar(&sides.Helm, "helm", "helm", "Helm 4.3.1")
	flag.StringVar(&sides.Ours, "ours", "kubectl-release", "our binary")
	flag.StringVar(&sides.KubeVersion, "kube-version", "v1.36.3", "Kubernetes version, for both")
	seed := flag.Uint64("seed", 1, "first seed")
	runs := flag.Uint64("runs", 1, "how many seeds")
	keep := flag.String("keep", "", "folder to leave the charts in")
	flag.Parse()

	dir := *keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "fuzz"); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		defer os.RemoveAll(dir)
	}
	different, failed := 0, 0
	for s := *seed; s < *seed+*runs; s++ {
		found, failure, err := one(sides, s, filepath.Join(dir, strconv.FormatUint(s, 10)))
		if err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		if failure {
			failed++
		}
		if len(found) > 0 {
			different++
		}
	}
	fmt.Printf("%d charts, %d that are an error, %d that differ\n", *runs, failed, different)
	if different > 0 {
		os.Exit(1)
	}
}

func one(sides compare.Sides, seed uint64, dir string) ([]compare.Difference, bool, error) {
	made := generate.Chart(seed)
	if err := made.Write(dir); err != nil {
		return nil, false, err
	}
	helm, ours := sides.Once(context.Background(), compare.Case{Chart: dir, Args: made.Args})
	found := compare.Outputs([2]compare.Output{helm, helm}, [2]compare.Output{ours, ours})
	if len(found) > 0 {
		fmt.Printf("seed %d: %q: %d differences\n  %v\n", seed, made.Args, len(found), found[0])
	}
	return found, helm.Failure != "", nil
}
