// Command build compiles what the tests need into testcluster/bin: testcluster
// with kubectl, and Helm 3 and Helm 4 for comparison. What is up to date is not
// compiled again, and concurrent builds wait for each other. It reports progress
// every few seconds, since the first build takes minutes. The registries registry and
// distribution, helm-controller, and conftest and gojq, which run policies on plans, are built only
// if they are named.
// With -o it builds any other program, and always runs go build.
//
// It does not start anything. It imports only the standard library, so it compiles
// quickly itself.
//
// Usage, in the folder testcluster:
//
//	go run ./build [-q] [testcluster] [helm3] [helm4] [registry] [distribution] [helm-controller] [conftest] [gojq]
//	go run ./build -o FILE [-X NAME=VALUE] FOLDER
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

func main() {
	quiet := flag.Bool("q", false, "say nothing when all is up to date")
	out := flag.String("o", "", "build the program in a folder into this `FILE`")
	variable := flag.String("X", "", "with -o: the linker sets `NAME=VALUE`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *out != "" {
		own := target{name: filepath.Base(*out), folder: flag.Arg(0), variables: []string{*variable}}
		var dir string
		if dir, err = filepath.Abs(filepath.Dir(*out)); err == nil {
			err = compile(ctx, own, dir)
		}
	} else {
		err = run(ctx, *quiet, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// run builds the named binaries, or without names the default ones.
func run(ctx context.Context, quiet bool, names []string) error {
	if _, err := os.Stat("controlplane"); err != nil {
		return fmt.Errorf("look for our sources: run this in the folder testcluster: %w", err)
	}
	bin, err := filepath.Abs("bin")
	if err != nil {
		return fmt.Errorf("find the folder of binaries: %w", err)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("make the folder of binaries: %w", err)
	}
	unlock, err := lock(filepath.Join(bin, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	for _, name := range names {
		if !slices.ContainsFunc(targets(), func(t target) bool { return t.name == name }) {
			return fmt.Errorf("nothing is called %q here", name)
		}
	}
	for _, t := range targets() {
		if !t.wanted(names) {
			continue
		}
		built, err := t.bring(ctx, bin)
		if err != nil {
			return err
		}
		if !built && !quiet {
			fmt.Fprintf(os.Stderr, "%s is up to date\n", t.name)
		}
	}
	return nil
}
