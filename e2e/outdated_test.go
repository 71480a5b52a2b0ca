//go:build cluster

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// in runs our program in a namespace with the test's repositories, and returns its output.
func (p pinning) in(namespace string, code int, args ...string) string {
	p.t.Helper()
	args = append(append(args, "--namespace", namespace), p.flags...)
	r := p.ends(code, args...)
	return r.Stdout + r.Stderr
}

// status returns what our status command prints about the release. It is run without the
// flags for chart sources, which it does not have.
func (p pinning) status(namespace string, args ...string) string {
	p.t.Helper()
	r := p.ends(0, append([]string{"status", "web", "--namespace", namespace}, args...)...)
	return r.Stdout
}

// TestCheck31RecordedSource finds in the record where a chart came from, also after Helm
// has worked on the release.
func TestCheck31RecordedSource(t *testing.T) {
	t.Parallel()
	p := newPinning(t)
	p.push("first")
	namespace := cluster.Namespace(t)
	p.in(namespace, 0, "install", "web", p.ref(), "--wait")
	digest := p.digest()
	if text := p.status(namespace); !strings.Contains(text, "SOURCE: "+p.ref()+" ("+digest+")\n") {
		t.Error(text)
	}
	var record struct {
		Source struct{ URL, Digest string } `json:"chart_source"`
	}
	if err := json.Unmarshal([]byte(p.status(namespace, "-o", "json")), &record); err != nil {
		t.Fatal(err)
	}
	if record.Source.URL != p.ref() || record.Source.Digest != digest {
		t.Errorf("%+v", record)
	}
	if list := cluster.Helm4(t, "list", "--namespace", namespace); !strings.Contains(list, "alpha-1.0.0") {
		t.Error(list)
	}
	// After an upgrade by Helm the record no longer names a source; after a rollback, by
	// either Helm or us, it does again.
	folder := filepath.Join(p.dir, "alpha-1.0.0.tgz")
	cluster.Helm4(t, "upgrade", "web", folder, "--namespace", namespace, "--set", "text=b")
	if text := p.status(namespace); strings.Contains(text, "\nSOURCE: ") {
		t.Error(text)
	}
	cluster.Helm3(t, "rollback", "web", "1", "--namespace", namespace)
	if text := p.status(namespace); !strings.Contains(text, "SOURCE: "+p.ref()) {
		t.Errorf("Helm 3 has lost it: %s", text)
	}
	p.in(namespace, 0, "upgrade", "web", folder)
	if text := p.status(namespace); strings.Contains(text, "\nSOURCE: ") {
		t.Error(text)
	}
	p.ends(0, "rollback", "web", "3", "--namespace", namespace)
	if text := p.status(namespace); !strings.Contains(text, "SOURCE: "+p.ref()) {
		t.Error(text)
	}
}

// Releases for which there are newer charts are listed, with what an upgrade would do.
func TestListOutdated(t *testing.T) {
	t.Parallel()
	p := newPinning(t)
	a := sourcetest.Serve(t, sourcetest.Options{})
	a.Publish(t, map[string][]string{"web": {"1.0.0"}, "db": {"1.0.0"}})
	repositories := p.flags[2:] // all but the registry flag
	p.ends(0, append([]string{"repo", "add", "stable", a.URL}, repositories[:4]...)...)
	namespace := cluster.Namespace(t)
	p.in(namespace, 0, "install", "recorded", "stable/web")
	p.in(namespace, 0, "install", "current", "stable/db", "--version", "1.0.0")
	archive := filepath.Join(p.dir, "web-1.0.0.tgz")
	if err := os.WriteFile(archive, a.File("/web-1.0.0.tgz"), 0o644); err != nil {
		t.Fatal(err)
	}
	cluster.Helm4(t, "install", "helms", archive, "--namespace", namespace, "--set", "text=mine")
	p.push("first")
	p.in(namespace, 0, "install", "image", p.ref())
	odd := filepath.Join(p.dir, "odd.tgz")
	if err := os.WriteFile(odd, sourcetest.Chart(t, "odd", "1.0.0", ""), 0o644); err != nil {
		t.Fatal(err)
	}
	p.in(namespace, 0, "install", "odd", odd)
	list := func(args ...string) string {
		t.Helper()
		r := p.ends(0, append(append([]string{"list", "--outdated", "--namespace", namespace}, args...), p.flags...)...)
		return r.Stdout + r.Stderr
	}
	if text := list(); strings.Contains(text, "stable/") || !strings.Contains(text, "registry "+p.registry.Host+" is not known here") || !strings.Contains(text, "has the charts of "+namespace+"/odd.") {
		t.Error(text)
	}
	a.Publish(t, map[string][]string{"web": {"1.0.0", "1.1.0", "2.0.0-rc.1"}, "db": {"1.0.0"}})
	p.ends(0, append([]string{"repo", "update"}, repositories[:4]...)...)
	var rows []map[string]any
	r := p.ends(0, append([]string{"list", "--outdated", "--plan", "--namespace", namespace, "-o", "json"}, p.flags...)...)
	if err := json.Unmarshal([]byte(r.Stdout), &rows); err != nil || len(rows) != 2 {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	for i, name := range []string{"helms", "recorded"} {
		row := rows[i]
		summary, _ := row["plan"].(map[string]any)
		if row["name"] != name || row["newest"] != "1.1.0" || row["version"] != "1.0.0" || row["source"] != "stable/web" || (row["guessed"] == true) != (name == "helms") || summary["patch"] != 1.0 {
			t.Errorf("%v", row)
		}
	}
	if text := list("--plan"); !strings.Contains(text, "UPGRADE") || strings.Count(text, "change 1") != 2 || !strings.Contains(text, "stable/web (by its name)") {
		t.Error(text)
	}
	if text := list("--devel"); strings.Count(text, "2.0.0-rc.1") != 2 {
		t.Error(text)
	}
	p.ends(1, "list", "--plan")
}
