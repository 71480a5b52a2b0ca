package clustertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Binaries holds the paths of the programs that tests run.
type Binaries struct {
	// Dir contains all of them: put it in PATH to run kubectl by name.
	Dir                                string
	Testcluster, Kubectl, Helm3, Helm4 string
}

// FindBinaries returns the binaries in the folder that the environment variable
// TESTCLUSTER_BIN names, or otherwise those in testcluster/bin, which it builds first
// if they are missing or outdated. A first build takes minutes and reports how far it
// is to progress.
func FindBinaries(ctx context.Context, progress io.Writer) (Binaries, error) {
	if dir := os.Getenv("TESTCLUSTER_BIN"); dir != "" {
		return binariesIn(dir)
	}
	home, err := findTestcluster()
	if err != nil {
		return Binaries{}, err
	}
	if err := bring(ctx, home, progress); err != nil {
		return Binaries{}, fmt.Errorf("build the test cluster in %s: %w", home, err)
	}
	return binariesIn(filepath.Join(home, "bin"))
}

// Tool returns the path of a program that few tests need, such as conftest or
// gojq. It is found, or built, in the same folder as the others.
func (b Binaries) Tool(ctx context.Context, name string, progress io.Writer) (string, error) {
	path := filepath.Join(b.Dir, name)
	if os.Getenv("TESTCLUSTER_BIN") == "" {
		home := filepath.Dir(b.Dir)
		if err := bring(ctx, home, progress, name); err != nil {
			return "", fmt.Errorf("build %s in %s: %w", name, home, err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("look for %s: %w", name, err)
	}
	return path, nil
}

// brought holds the builds that have succeeded in this process.
var brought sync.Map

// bring builds binaries of testcluster if they are missing or outdated, once per process: the go
// command takes a tenth of a second to find that there is nothing to do.
func bring(ctx context.Context, home string, progress io.Writer, names ...string) error {
	key := fmt.Sprint(home, names)
	if _, done := brought.Load(key); done {
		return nil
	}
	build := exec.CommandContext(ctx, "go", append([]string{"run", "./build", "-q"}, names...)...)
	build.Dir = home
	build.Stdout, build.Stderr = progress, progress
	if err := build.Run(); err != nil {
		return err
	}
	brought.Store(key, true)
	return nil
}

func binariesIn(dir string) (Binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Binaries{}, fmt.Errorf("find the folder of binaries: %w", err)
	}
	b := Binaries{
		Dir:         dir,
		Testcluster: filepath.Join(dir, "testcluster"),
		Kubectl:     filepath.Join(dir, "kubectl"),
		Helm3:       filepath.Join(dir, "helm3"),
		Helm4:       filepath.Join(dir, "helm4"),
	}
	for _, path := range []string{b.Testcluster, b.Kubectl, b.Helm3, b.Helm4} {
		if _, err := os.Stat(path); err != nil {
			return Binaries{}, fmt.Errorf("look for the test cluster's binaries: %w", err)
		}
	}
	return b, nil
}

// findTestcluster looks for the folder testcluster in the current folder and above: a
// test runs in the folder of its package.
func findTestcluster() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the current folder: %w", err)
	}
	for {
		home := filepath.Join(dir, "testcluster")
		if _, err := os.Stat(filepath.Join(home, "go.mod")); err == nil {
			return home, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the folder testcluster: it is neither in the current folder nor above")
		}
		dir = parent
	}
}
