//go:build cluster

package sources_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Charts of the same name and version can be different ones in different places. Whatever was fetched
// before, each place's own chart is rendered, even if nobody can be reached.
func TestPlacesAreNotConfused(t *testing.T) {
	h := newHome(t)
	places := map[string][]string{} // by the text that the chart renders
	var stop []func()
	put := func(text string, digest bool) *sourcetest.Repository {
		r := sourcetest.Serve(t, sourcetest.Options{})
		content := sourcetest.Chart(t, "alpha", "1.0.0", text)
		entry := sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz"}
		if digest {
			entry.Digest = sourcetest.Digest(content)
		}
		r.Put("/alpha-1.0.0.tgz", content)
		r.Put("/index.yaml", sourcetest.Index(entry))
		stop = append(stop, r.Stop)
		return r
	}
	for _, name := range []string{"a", "b"} {
		h.ok("repo", "add", name, put("of "+name, true).URL)
		places["of "+name] = []string{name + "/alpha"}
	}
	// Indexes without digests.
	for _, name := range []string{"c", "d"} {
		h.ok("repo", "add", name, put("of "+name, false).URL)
		places["of "+name] = []string{name + "/alpha"}
	}
	places["of --repo"] = []string{"alpha", "--repo", put("of --repo", false).URL}
	places["of a URL"] = []string{put("of a URL", false).URL + "/alpha-1.0.0.tgz"}
	registry := plainRegistry(t)
	stop = append(stop, registry.Stop)
	for _, path := range []string{"one", "two"} {
		h.ok("push", h.chartFile("alpha", "1.0.0", "of "+path), "oci://"+registry.Host+"/"+path)
		places["of "+path] = []string{"oci://" + registry.Host + "/" + path + "/alpha:1.0.0"}
	}
	must(t, os.Remove(h.path("alpha-1.0.0.tgz")))
	check := func(flags ...string) {
		t.Helper()
		for text, chart := range places {
			if out := h.ok(append(append([]string{"template", "web"}, chart...), flags...)...).out; !strings.Contains(out, `"`+text+`"`) {
				t.Errorf("%q %q: not the chart %s:\n%s", chart, flags, text, out)
			}
		}
	}
	check()
	check()
	// As dependencies they are three files. It is reported that one of them is rendered for all.
	h.umbrella("um", "{name: alpha, version: 1.0.0, repository: '@a'}", "{name: alpha, alias: other, version: 1.0.0, repository: '@d'}", "{name: alpha, alias: third, version: 1.0.0, repository: 'oci://"+registry.Host+"/two'}")
	if said := h.ok("dependency", "update", "um").err; strings.Count(said, "one of them is rendered for both") != 2 {
		t.Error(said)
	}
	for _, f := range stop {
		f()
	}
	check("--offline")
	before := h.tree("um")
	must(t, os.RemoveAll(h.path("um", "charts")))
	h.ok("dependency", "build", "um") // asks nobody
	if after := h.tree("um"); len(after) != 5 || !maps.Equal(before, after) {
		t.Errorf("%q", slices.Sorted(maps.Keys(after)))
	}
}
