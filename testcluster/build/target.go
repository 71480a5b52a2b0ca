package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	kubernetes = "v1.36.3"
	helm3      = "v3.22.0"
	helm4      = "v4.3.1"
	conftest   = "v0.71.1"
	gojq       = "v0.12.19"
)

// target is a binary and how it is built.
type target struct {
	name string
	// folder is where to build the package pkg, or the folder's own package if pkg is empty.
	// Without a folder, pkg is package@version.
	folder, pkg string
	// also are folders in folder whose programs are built by the same command, so that one is linked
	// while the other is compiled; they are named like the folders.
	also []string
	// variables are set by the linker, as in the releases of these programs.
	variables []string
	// onDemand targets are built only if they are named: few tests need them.
	onDemand bool
}

// wanted reports whether to build the target, given the named ones, if any.
func (t target) wanted(names []string) bool {
	if len(names) == 0 {
		return !t.onDemand
	}
	return slices.Contains(names, t.name)
}

func targets() []target {
	ofKubernetes := []string{
		"k8s.io/component-base/version.gitVersion=" + kubernetes,
		"k8s.io/component-base/version.gitMajor=1",
		"k8s.io/component-base/version.gitMinor=36",
	}
	return []target{
		{name: "testcluster", folder: ".", also: []string{"kubectl"}, variables: ofKubernetes},
		{name: "helm3", pkg: "helm.sh/helm/v3/cmd/helm@" + helm3, variables: []string{
			"helm.sh/helm/v3/internal/version.version=" + helm3,
			"helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
			"helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=36",
			"helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
			"helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36",
		}},
		{name: "helm4", pkg: "helm.sh/helm/v4/cmd/helm@" + helm4, variables: []string{
			"helm.sh/helm/v4/internal/version.version=" + helm4,
		}},
		{name: "registry", folder: "registry", onDemand: true},
		{name: "distribution", folder: "distribution", onDemand: true},
		{name: "helm-controller", folder: "helmcontroller", pkg: "github.com/fluxcd/helm-controller", onDemand: true},
		{name: "conftest", pkg: "github.com/open-policy-agent/conftest@" + conftest, onDemand: true},
		{name: "gojq", pkg: "github.com/itchyny/gojq/cmd/gojq@" + gojq, onDemand: true},
	}
}

// bring builds the target unless the binary was built from exactly the same sources
// and settings; built reports whether it did.
func (t target) bring(ctx context.Context, bin string) (built bool, err error) {
	key, err := t.key()
	if err != nil {
		return false, fmt.Errorf("look at the sources of %s: %w", t.name, err)
	}
	stamp := filepath.Join(bin, "."+t.name+".key")
	if old, err := os.ReadFile(stamp); err == nil && string(old) == key {
		if !slices.ContainsFunc(t.binaries(), func(name string) bool { _, err := os.Stat(filepath.Join(bin, name)); return err != nil }) {
			return false, nil
		}
	}
	// A running binary can't be overwritten, but another can take its name.
	scratch, err := os.MkdirTemp(bin, ".build-")
	if err != nil {
		return false, fmt.Errorf("make a folder to build %s in: %w", t.name, err)
	}
	defer os.RemoveAll(scratch)
	if err := compile(ctx, t, scratch); err != nil {
		return false, fmt.Errorf("build %s: %w", t.name, err)
	}
	for _, name := range t.binaries() {
		if err := os.Rename(filepath.Join(scratch, name), filepath.Join(bin, name)); err != nil {
			return false, fmt.Errorf("put %s in place: %w", name, err)
		}
	}
	if err := os.WriteFile(stamp, []byte(key), 0o644); err != nil {
		return false, fmt.Errorf("note what %s was built from: %w", t.name, err)
	}
	return true, nil
}

// binaries returns the names of the programs that the target consists of.
func (t target) binaries() []string { return append([]string{t.name}, t.also...) }

func (t target) flags() string {
	flags := "-s -w"
	for _, variable := range t.variables {
		flags += " -X " + variable
	}
	return flags
}

// key returns a digest of everything that the binary depends on.
func (t target) key() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, t.folder, t.pkg, t.also, t.flags(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if t.folder == "" {
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	err := filepath.WalkDir(t.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && t.folder == "." && slices.Contains([]string{"bin", "build", "registry", "distribution", "helmcontroller"}, path) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !isSource(path) {
			return nil
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

func isSource(path string) bool {
	switch filepath.Ext(path) {
	case ".go":
		return !strings.HasSuffix(path, "_test.go")
	case ".mod", ".sum", ".yaml":
		return true
	default:
		return false
	}
}
