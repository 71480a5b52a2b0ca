//go:build cluster

package sources_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// kills returns how often each command is killed: in make test, a few times.
func kills() int {
	if *soak {
		return 50
	}
	return 6
}

// killed runs our program and kills it at a random moment within the time that it takes.
func (h *home) killed(takes time.Duration, args ...string) {
	h.t.Helper()
	c := exec.Command(program(h.t), args...)
	c.Dir, c.Env = h.dir, h.env
	must(h.t, c.Start())
	timer := time.AfterFunc(rand.N(takes), func() { _ = c.Process.Kill() })
	defer timer.Stop()
	err := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.Exited()) {
		h.t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
}

// whole runs our program while a file has to exist all the time.
func (h *home) whole(file string, args ...string) {
	h.t.Helper()
	c := exec.Command(program(h.t), args...)
	c.Dir, c.Env = h.dir, h.env
	must(h.t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			must(h.t, err)
			return
		default:
		}
		if !h.exists(file) {
			h.t.Errorf("%s: %s is not there for a moment", strings.Join(args, " "), file)
			must(h.t, <-ended)
			return
		}
	}
}

// takes returns how long a run takes.
func (h *home) takes(args ...string) time.Duration {
	h.t.Helper()
	start := time.Now()
	h.ok(args...)
	return time.Since(start)
}

// unfinished reports whether a killed run may leave a file of this name: one without its final name.
func unfinished(name string) bool { return strings.Contains(name, ".kubectl-release-") }

// Whenever a run is killed, charts/ and the lock are both the old ones or both the new ones. The log
// says how often each was the case.
func TestCheck44KilledUpdate(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	// Files that stay in charts/ lengthen the moments in which a mixture could be seen.
	for i := range 1000 {
		h.write(fmt.Sprintf("um/charts/hand/%d", i), "")
	}
	states := map[string]map[string]string{}
	chart := func(version string) {
		h.umbrella("um", "{name: beta, version: "+version+", repository: "+a.URL+"}", "{name: alpha, version: '*', repository: "+a.URL+"}")
	}
	var takes time.Duration
	for _, version := range []string{"1.2.0", "2.0.0", "1.2.0"} {
		chart(version)
		takes = h.takes("dependency", "update", "um")
		states[version] = generated(h.tree("um"))
	}
	seen := map[string]int{}
	now := "1.2.0"
	for range kills() {
		next := "2.0.0"
		if now == next {
			next = "1.2.0"
		}
		chart(next)
		h.killed(takes, "dependency", "update", "um")
		tree := generated(h.tree("um"))
		maps.DeleteFunc(tree, func(name, _ string) bool { return unfinished(name) })
		delete(tree, "Chart.yaml")
		found := ""
		for version, state := range states {
			want := maps.Clone(state)
			delete(want, "Chart.yaml")
			if maps.Equal(tree, want) {
				found = version
			}
		}
		if found == "" {
			t.Fatalf("a mixture: %q", slices.Sorted(maps.Keys(tree)))
		}
		if found == next {
			seen["new"]++
		} else {
			seen["old"]++
		}
		now = found
	}
	t.Logf("%v", seen)
	// Nor is charts/ missing for a moment.
	for _, version := range []string{"1.2.5", "2.0.0"} {
		chart(version)
		h.whole("um/charts/hand/0", "dependency", "update", "um")
	}
	// What a killed run leaves behind is not part of the chart, and the next run removes it.
	chart("1.3.0")
	h.ok("dependency", "update", "um")
	for name := range h.tree("um") {
		if unfinished(name) {
			t.Errorf("%s is left", name)
		}
	}
}

// generated returns a tree without the time in its lock.
func generated(tree map[string]string) map[string]string {
	tree["Chart.lock"] = generatedLine.ReplaceAllString(tree["Chart.lock"], "")
	return tree
}

// The files that other commands write have either their old content or all of the new.
func TestKilledCommandsLeaveOldOrNew(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	old := a.File("/index.yaml")
	a.Publish(t, map[string][]string{"alpha": {"1.0.0", "3.0.0"}})
	indexes := []string{string(old), string(a.File("/index.yaml"))}
	h.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	values := []string{"a: 1\n", "a: 2\n"}
	var packages []string
	for _, text := range values {
		h.write("web/values.yaml", text)
		h.ok("package", "web")
		packages = append(packages, h.read("web-1.0.0.tgz"))
	}
	pulled := []string{string(a.File("/alpha-1.0.0.tgz")), string(sourcetest.Chart(t, "alpha", "1.0.0", strings.Repeat("other ", 10_000)))}
	const index = ".cache/helm/repository/a-index.yaml"
	for name, tc := range map[string]struct {
		file    string
		content []string
		before  func(i int)
		args    []string
	}{
		"repo update": {index, indexes, func(i int) { a.Put("/index.yaml", []byte(indexes[i%2])) }, []string{"repo", "update"}},
		"package":     {"web-1.0.0.tgz", packages, func(i int) { h.write("web/values.yaml", values[i%2]) }, []string{"package", "web"}},
		"pull":        {"alpha-1.0.0.tgz", pulled, func(i int) { a.Put("/alpha-1.0.0.tgz", []byte(pulled[i%2])) }, []string{"pull", a.URL + "/alpha-1.0.0.tgz"}},
	} {
		tc.before(0)
		takes := h.takes(tc.args...)
		for i := range kills() {
			tc.before(i + 1)
			h.killed(takes, tc.args...)
			got, whole := h.read(tc.file), false
			for _, content := range tc.content {
				whole = whole || got == content
			}
			if !whole {
				t.Fatalf("%s: %s is a mixture:\n%q", name, tc.file, got)
			}
		}
		tc.before(0)
		h.ok(tc.args...)
		if h.read(tc.file) != tc.content[0] {
			t.Errorf("%s: a run behind the killed ones leaves another file", name)
		}
	}
}
