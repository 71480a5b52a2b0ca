//go:build cluster

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// pinning makes plans of a chart in a registry, and applies them.
type pinning struct {
	t        *testing.T
	registry *sourcetest.Registry
	dir      string
	flags    []string
}

func newPinning(t *testing.T) pinning {
	t.Helper()
	program, err := cluster.Binaries.Tool(t.Context(), "distribution", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	flags := []string{
		"--registry-config", filepath.Join(dir, "registry.json"), "--repository-config", filepath.Join(dir, "repositories.yaml"),
		"--repository-cache", filepath.Join(dir, "indexes"), "--content-cache", filepath.Join(dir, "content"),
	}
	return pinning{t: t, registry: sourcetest.StartRegistry(t, sourcetest.RegistryOptions{Program: program}), dir: dir, flags: flags}
}

func (p pinning) ref() string { return "oci://" + p.registry.Host + "/charts/alpha:1.0.0" }

// push pushes a chart with this text to the tag, replacing what is there.
func (p pinning) push(text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, "alpha-1.0.0.tgz")
	if err := os.WriteFile(file, sourcetest.Chart(p.t, "alpha", "1.0.0", text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.ends(0, "push", file, "oci://"+p.registry.Host+"/charts", "--force", "--registry-config", filepath.Join(p.dir, "registry.json"))
}

// plan saves a plan for a new namespace, and returns the namespace and the file.
func (p pinning) plan(chart string) (namespace, file string) {
	p.t.Helper()
	namespace, file = cluster.Namespace(p.t), filepath.Join(p.t.TempDir(), "web.plan")
	p.ends(0, append([]string{"plan", "web", chart, "--namespace", namespace, "--out", file}, p.flags...)...)
	return namespace, file
}

func (p pinning) apply(code int, args ...string) clustertest.Result {
	p.t.Helper()
	return p.ends(code, append(append([]string{"apply"}, args...), p.flags...)...)
}

func (p pinning) ends(code int, args ...string) clustertest.Result {
	p.t.Helper()
	r := cluster.Run(p.t, clustertest.Program(p.t), "", args...)
	if r.ExitCode != code {
		p.t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.ExitCode, code, r.Stdout, r.Stderr)
	}
	return r
}

func (p pinning) deployed(namespace string) string {
	p.t.Helper()
	return cluster.Kubectl(p.t, "get", "configmaps,secrets", "--namespace", namespace, "--output", "yaml")
}

// TestCheck31InstallFromRegistry installs a chart from a registry; Helm sees the release
// like any other.
func TestCheck31InstallFromRegistry(t *testing.T) {
	t.Parallel()
	p := newPinning(t)
	p.push("first")
	namespace := cluster.Namespace(t)
	r := p.ends(0, append([]string{"install", "web", p.ref(), "--wait", "--namespace", namespace}, p.flags...)...)
	if want := "Chart alpha 1.0.0: " + p.ref() + "@" + p.digest(); !strings.Contains(r.Stderr, want) {
		t.Errorf("%s does not say %q", r.Stderr, want)
	}
	if !strings.Contains(p.deployed(namespace), "first") {
		t.Error("another chart is there")
	}
	if list := cluster.Helm4(t, "list", "--namespace", namespace); !strings.Contains(list, "alpha-1.0.0") || !strings.Contains(list, "deployed") {
		t.Error(list)
	}
}

// TestCheck32MovedTag pushes different content to a tag that was planned: the plan is stale,
// and with --pinned what was planned is applied. Nothing is ever fetched for that.
func TestCheck32MovedTag(t *testing.T) {
	t.Parallel()
	p := newPinning(t)
	p.push("first")
	unmoved, kept := p.plan(p.ref())
	moved, file := p.plan(p.ref())
	fixed, fixedFile := p.plan(p.ref() + "@" + p.digest())
	p.registry.Forget()
	p.apply(0, kept)
	if asked := p.registry.Asked(); !slices.Equal(asked, []string{"HEAD /v2/charts/alpha/manifests/1.0.0 200"}) {
		t.Errorf("asked %q", asked)
	}
	was := p.digest()
	p.push("second")
	r := p.apply(4, file)
	for _, want := range []string{p.ref() + " was " + was, "is " + p.digest() + " now", "--pinned"} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("%s does not say %q", r.Stderr, want)
		}
	}
	if strings.Contains(p.deployed(moved), "sh.helm.release") {
		t.Error("a stale plan has written a record")
	}
	p.registry.Forget()
	p.apply(0, file, "--pinned")
	p.apply(0, fixedFile)
	if asked := p.registry.Asked(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
	for _, namespace := range []string{unmoved, moved, fixed} {
		if got := p.deployed(namespace); !strings.Contains(got, "first") || strings.Contains(got, "second") {
			t.Errorf("it is not what was planned:\n%s", got)
		}
	}
}

// digest returns the digest that the tag refers to now.
func (p pinning) digest() string {
	p.t.Helper()
	r := p.ends(0, append([]string{"pull", p.ref(), "-d", p.t.TempDir()}, p.flags...)...)
	_, after, _ := strings.Cut(r.Stdout+r.Stderr, "@")
	if len(after) < 71 {
		p.t.Fatalf("no digest: %s%s", r.Stdout, r.Stderr)
	}
	return after[:71]
}

// TestCheck32NobodyIsThere: if the registry can't be reached, what was planned is applied, with a message.
func TestCheck32NobodyIsThere(t *testing.T) {
	t.Parallel()
	p := newPinning(t)
	p.push("first")
	_, one := p.plan(p.ref())
	_, other := p.plan(p.ref())
	p.registry.Stop()
	if r := p.apply(0, one, "--offline"); !strings.Contains(r.Stderr, "Offline: whether "+p.ref()+" is still ") {
		t.Error(r.Stderr)
	}
	if r := p.apply(0, other); !strings.Contains(r.Stderr, "Warning: the chart is applied as it was planned") {
		t.Error(r.Stderr)
	}
	p.apply(1, "web", p.ref(), "--yes", "--pinned")
}
