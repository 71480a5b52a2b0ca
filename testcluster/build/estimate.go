package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// startOfCompiler is how many bytes of source compile in the time it takes to
	// start the compiler once. It was fitted to the 700 packages of kubectl-release,
	// where it explains 60 % of the variation in time.
	startOfCompiler = 50 << 10
	// linking is the share of linking in the whole build, in percent.
	linking = 8
)

// estimate tracks how much of a build remains, measured in bytes of source plus a
// constant for each package.
type estimate struct {
	since time.Time
	// weights holds the weights of the packages that remain to be compiled.
	weights            map[string]int
	packages, compiled int
	whole, done        int
}

// newEstimate asks the go command in dir which packages of the programs remain to be compiled; it
// returns nil if that fails.
func newEstimate(ctx context.Context, dir string, programs, environment []string) *estimate {
	list := exec.CommandContext(ctx, "go", append([]string{
		"list", "-deps", "-f",
		`{{if .Stale}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{range .GoFiles}}{{"\t"}}{{.}}{{end}}{{end}}`,
	}, programs...)...)
	list.Env, list.Dir = environment, dir
	out, err := list.Output()
	if err != nil {
		return nil
	}
	e := &estimate{since: time.Now(), weights: map[string]int{}}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if fields := strings.Split(lines.Text(), "\t"); len(fields) > 2 {
			e.add(fields[0], fields[1], fields[2:])
		}
	}
	e.whole += e.whole * linking / 100
	return e
}

func (e *estimate) add(path, dir string, files []string) {
	weight := startOfCompiler
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			weight += int(info.Size())
		}
	}
	e.weights[path] = weight
	e.whole += weight
	e.packages++
}

// forget removes packages that were started before the estimate was made: they say
// nothing about its speed. A nil estimate does nothing.
func (e *estimate) forget(paths []string) {
	for _, path := range paths {
		if e != nil && e.weights[path] > 0 {
			e.whole -= e.weights[path]
			e.packages--
			delete(e.weights, path)
		}
	}
}

// note counts a package as compiled. A nil estimate does nothing.
func (e *estimate) note(path string) {
	if e == nil || e.weights[path] == 0 {
		return
	}
	e.done += e.weights[path]
	e.compiled++
	delete(e.weights, path)
}

func (e *estimate) String() string {
	left := fmt.Sprintf("%d of %d packages left", e.packages-e.compiled, e.packages)
	took := time.Since(e.since)
	if e.done == 0 || took < interval {
		return left
	}
	rest := time.Duration(float64(took) * float64(e.whole-e.done) / float64(e.done))
	return fmt.Sprintf("%s, about %s to go", left, rest.Round(5*time.Second))
}
