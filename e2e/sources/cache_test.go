//go:build cluster

package sources_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// cached returns what a cache command lists, one line for each: its kind, what leads to it, and whether
// it is broken.
func (h *home) cached(args ...string) []string {
	h.t.Helper()
	var rows []struct {
		Kind, Name, Digest string
		Bytes              int64
		Fetched            time.Time
		UsedBy             []string
		Broken             bool
	}
	must(h.t, json.Unmarshal([]byte(h.ok(append([]string{"cache"}, append(args, "-o", "json")...)...).out), &rows))
	out := []string{}
	for _, r := range rows {
		if r.Bytes == 0 || r.Fetched.IsZero() || (r.Name == "") == (r.Digest == "") {
			h.t.Errorf("%+v", r)
		}
		line := r.Kind + ": " + strings.Join(r.UsedBy, ", ")
		if r.Broken {
			line += " broken"
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func TestCacheListAndPrune(t *testing.T) {
	a, r, h := repositoryA(t, sourcetest.Options{}), plainRegistry(t), newHome(t)
	if r := h.ok("cache", "list"); r.out != "" || !strings.Contains(r.err, "0 in the cache, 0 B") {
		t.Errorf("%+v", r)
	}
	h.ok("repo", "add", "a", a.URL)
	h.ok("template", "web", "a/alpha")
	h.ok("template", "web", a.URL+"/beta-1.2.0.tgz") // an index has it, too
	other := sourcetest.Serve(t, sourcetest.Options{})
	other.Put("/gamma-1.0.0.tgz", sourcetest.Chart(t, "gamma", "1.0.0", ""))
	h.ok("template", "web", other.URL+"/gamma-1.0.0.tgz")
	other.Publish(t, map[string][]string{"beta": {"2.0.0"}})
	h.ok("template", "web", "beta", "--repo", other.URL)
	for _, text := range []string{"one", "two"} { // the second takes the first one's tag
		h.chartFile("delta", "1.0.0", text)
		h.ok("push", "delta-1.0.0.tgz", "oci://"+r.Host+"/charts", "--force")
		h.ok("template", "web", "oci://"+r.Host+"/charts/delta:1.0.0")
	}
	const content = ".cache/helm/content/"
	h.write(content+"ab/ab"+strings.Repeat("0", 62)+".chart", "other bytes")
	h.write(content+"ab/.kubectl-release-new", "half")
	must(t, os.Chtimes(h.write(content+"ab/.kubectl-release-old", "half"), time.Time{}, time.Now().Add(-2*time.Hour)))
	h.write(content+"ab/readme.txt", "not ours")
	h.write(".cache/helm/repository/removed-index.yaml", string(sourcetest.Index()))

	kept := []string{
		"chart: a URL", "chart: a URL, beta 1.2.0", "chart: alpha 1.0.0", "chart: beta 2.0.0", "chart: delta 1.0.0",
		"index: a repository that is not configured", "index: repository a", "manifest: tag 1.0.0", "unfinished: ",
	}
	loose := []string{"chart: ", "chart:  broken", "index: ", "manifest: ", "unfinished: "}
	all := slices.Sorted(slices.Values(append(slices.Clone(kept), loose...)))
	if got := h.cached("list"); !slices.Equal(got, all) {
		t.Errorf("got %q, want %q", got, all)
	}
	if out := h.ok("cache", "list").out; !strings.Contains(out, "alpha 1.0.0") || !strings.Contains(out, "(broken)") || !strings.Contains(out, " B ") || strings.Count(out, "\n") != len(all)+1 {
		t.Error(out)
	}
	if got := h.cached("prune", "--dry-run"); !slices.Equal(got, loose) || !slices.Equal(h.cached("list"), all) {
		t.Errorf("got %q, want %q", got, loose)
	}
	if got := h.cached("prune"); !slices.Equal(got, loose) || !slices.Equal(h.cached("list"), kept) {
		t.Errorf("got %q, left %q", got, h.cached("list"))
	}
	// What is left is what --offline needs, and Helm finds its own files in it.
	for _, chart := range []string{"a/alpha", other.URL + "/gamma-1.0.0.tgz", "oci://" + r.Host + "/charts/delta:1.0.0"} {
		h.ok("template", "web", chart, "--offline")
	}
	h.helm("template", "web", "a/alpha")

	must(t, os.Chtimes(h.path(content, "ab/.kubectl-release-new"), time.Time{}, time.Now()))
	hex := sourcetest.Digest(other.File("/gamma-1.0.0.tgz"))
	must(t, os.Chtimes(h.path(content, hex[:2], hex+".chart"), time.Time{}, time.Now().Add(-50*time.Hour)))
	if got := h.cached("prune", "--older-than", "48h"); !slices.Equal(got, []string{"chart: a URL"}) {
		t.Errorf("%q", got)
	}
	h.fails(9, "is not in the cache", "template", "web", other.URL+"/gamma-1.0.0.tgz", "--offline")
	h.ok("repo", "remove", "a")
	if got := h.cached("prune"); !slices.Equal(got, []string{"chart: "}) {
		t.Errorf("%q", got)
	}
	if r := h.ok("cache", "prune", "--all"); !strings.Contains(r.err, "5 removed") {
		t.Error(r.err)
	}
	if got := h.cached("list"); !slices.Equal(got, []string{"unfinished: "}) || h.read(content+"ab/readme.txt") != "not ours" {
		t.Errorf("%q", got)
	}
	h.fails(1, "is in the future", "cache", "prune", "--older-than", "-1h")
}
