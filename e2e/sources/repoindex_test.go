//go:build cluster

package sources_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// published writes charts' archives to a folder.
func (h *home) published(folder string, charts map[string][]string) {
	h.t.Helper()
	for name, versions := range charts {
		for _, version := range versions {
			h.write(folder+"/"+name+"-"+version+".tgz", string(sourcetest.Chart(h.t, name, version, "")))
		}
	}
}

// entries returns the entries of an index, without their times.
func entries(t testing.TB, index string) map[string][]map[string]any {
	t.Helper()
	var typed struct {
		APIVersion string                      `json:"apiVersion"`
		Entries    map[string][]map[string]any `json:"entries"`
	}
	must(t, yaml.Unmarshal([]byte(index), &typed))
	if typed.APIVersion != "v1" {
		t.Errorf("apiVersion %q", typed.APIVersion)
	}
	for _, list := range typed.Entries {
		for _, e := range list {
			if e["created"] == nil || e["created"] == "" {
				t.Errorf("%v was never created", e)
			}
			delete(e, "created")
		}
	}
	return typed.Entries
}

func TestCheck07IndexIsHelms(t *testing.T) {
	h := newHome(t)
	for _, folder := range []string{"ours", "theirs"} {
		h.published(folder, map[string][]string{"alpha": {"1.0.0", "0.9.0", "1.10.0", "1.2.0-rc.1"}, "beta": {"2.0.0+b.1"}})
		h.published(folder+"/deep", map[string][]string{"gamma": {"1.0.0"}})
		h.published(folder+"/deep/deeper", map[string][]string{"delta": {"1.0.0"}})
		h.write(folder+"/broken-1.0.0.tgz", "broken")
		h.write(folder+"/full-1.0.0.tgz", string(sourcetest.Archive(t, "full", map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: full\nversion: 1.0.0\ndescription: d <&>\nkeywords: [a]\nhome: http://h\nsources: [s]\nmaintainers: [{name: n, email: e}]\nannotations: {a: b}\ndependencies: [{name: x, version: ^1, repository: http://h, alias: y, tags: [t]}]\nicon: i\nkubeVersion: '>=1'\ndeprecated: true\nappVersion: '1'\ntype: library\n",
		})))
	}
	for _, flags := range [][]string{nil, {"--url", "https://charts.example.com/x"}, {"--url", "https://charts.example.com/"}, {"--json"}} {
		h.ok(append([]string{"repo", "index", "ours"}, flags...)...)
		h.helm(append([]string{"repo", "index", "theirs"}, flags...)...)
		ours, theirs := h.read("ours/index.yaml"), h.read("theirs/index.yaml")
		if a, b := canonical(t, entries(t, ours)), canonical(t, entries(t, theirs)); a != b {
			t.Errorf("%q: ours:\n%s\nHelm's:\n%s", flags, a, b)
		}
		if slices.Contains(flags, "--json") != json.Valid([]byte(ours)) {
			t.Errorf("%q: it is JSON or not:\n%s", flags, ours)
		}
	}
	a := sourcetest.Serve(t, sourcetest.Options{})
	h.ok("repo", "index", "ours")
	for name, data := range h.tree("ours") {
		a.Put("/"+name, []byte(data))
	}
	h.helm("repo", "add", "a", a.URL)
	if out := h.helm("template", "web", "a/gamma").out; !strings.Contains(out, "web-gamma") {
		t.Error(out)
	}
	if out := h.ok("template", "web", "a/alpha").out; !strings.Contains(out, `"1.10.0"`) {
		t.Error(out)
	}
}

func TestCheck08IndexTwice(t *testing.T) {
	h := newHome(t)
	h.published("dist", map[string][]string{"alpha": {"1.0.0", "1.1.0"}, "beta": {"1.0.0"}})
	h.ok("repo", "index", "dist")
	first := h.read("dist/index.yaml")
	h.ok("repo", "index", "dist")
	if h.read("dist/index.yaml") != first {
		t.Errorf("%s\n%s", first, h.read("dist/index.yaml"))
	}
	created := func() map[string]any {
		var index struct {
			Entries map[string][]map[string]any `json:"entries"`
		}
		must(t, yaml.Unmarshal([]byte(h.read("dist/index.yaml")), &index))
		out := map[string]any{}
		for name, list := range index.Entries {
			for _, e := range list {
				out[name+" "+e["version"].(string)] = e["created"]
			}
		}
		return out
	}
	before := created()
	h.write("dist/alpha-1.1.0.tgz", string(sourcetest.Chart(t, "alpha", "1.1.0", "other")))
	h.published("dist", map[string][]string{"alpha": {"2.0.0"}})
	h.ok("repo", "index", "dist")
	after := created()
	if len(after) != 4 || after["alpha 1.0.0"] != before["alpha 1.0.0"] || after["beta 1.0.0"] != before["beta 1.0.0"] || after["alpha 1.1.0"] == before["alpha 1.1.0"] {
		t.Errorf("%v, %v", before, after)
	}
}

func TestCheck09IndexMerge(t *testing.T) {
	h := newHome(t)
	h.published("old", map[string][]string{"alpha": {"1.0.0"}, "gone": {"1.0.0"}})
	h.write("old/alpha-1.2.tgz", string(sourcetest.Chart(t, "alpha", "1.2", "")))
	h.ok("repo", "index", "old", "--url", "http://old")
	h.write("old/index.yaml", strings.Replace(h.read("old/index.yaml"), "    name: gone\n", "    name: gone\n    newKey: kept\n", 1))
	h.published("new", map[string][]string{"alpha": {"1.2.3"}})
	h.write("new/alpha-1.0.0.tgz", string(sourcetest.Chart(t, "alpha", "1.0.0", "new")))
	h.ok("repo", "index", "new", "--url", "http://new", "--merge", "old/index.yaml")
	got := entries(t, h.read("new/index.yaml"))
	urls := map[string]any{}
	for _, list := range got {
		for _, e := range list {
			urls[e["name"].(string)+" "+e["version"].(string)] = e["urls"].([]any)[0]
		}
	}
	want := map[string]any{
		"alpha 1.2.3": "http://new/alpha-1.2.3.tgz", "alpha 1.0.0": "http://new/alpha-1.0.0.tgz",
		"alpha 1.2": "http://old/alpha-1.2.tgz", "gone 1.0.0": "http://old/gone-1.0.0.tgz",
	}
	if !maps.Equal(urls, want) || got["gone"][0]["newKey"] != "kept" {
		t.Errorf("%v, %v", urls, got["gone"])
	}
	h.ok("repo", "index", "new", "--merge", "missing.yaml")
	if got := entries(t, h.read("new/index.yaml")); len(got) != 1 {
		t.Errorf("%v", got)
	}
	h.write("bad.yaml", "x")
	before := h.read("new/index.yaml")
	h.fails(1, "--merge", "repo", "index", "new", "--merge", "bad.yaml")
	if h.read("new/index.yaml") != before {
		t.Error("it has changed")
	}
}

// An archive whose size and time are unchanged is not read again, and its index entry stays as it is,
// even if, as here, its bytes have changed. Without the index, all archives are read.
func TestIndexReadsWhatIsNew(t *testing.T) {
	h := newHome(t)
	h.published("dist", map[string][]string{"alpha": {"1.0.0", "1.1.0"}})
	long := time.Now().Add(-time.Hour)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		must(t, os.Chtimes(h.path("dist/alpha-"+version+".tgz"), long, long))
	}
	h.ok("repo", "index", "dist")
	first := h.read("dist/index.yaml")
	size := len(h.read("dist/alpha-1.0.0.tgz"))
	h.write("dist/alpha-1.0.0.tgz", strings.Repeat("x", size))
	must(t, os.Chtimes(h.path("dist/alpha-1.0.0.tgz"), long, long))
	if r := h.ok("repo", "index", "dist"); h.read("dist/index.yaml") != first || r.err != "" {
		t.Errorf("it was read: %s%s", r.err, h.read("dist/index.yaml"))
	}
	must(t, os.Chtimes(h.path("dist/alpha-1.0.0.tgz"), long, long.Add(time.Second)))
	if r := h.ok("repo", "index", "dist"); !strings.Contains(r.err, "alpha-1.0.0.tgz is left out") {
		t.Errorf("another time: %s", r.err)
	}
	h.write("dist/alpha-1.1.0.tgz", string(sourcetest.Chart(t, "alpha", "1.1.0", "another size")))
	must(t, os.Chtimes(h.path("dist/alpha-1.1.0.tgz"), long, long))
	h.ok("repo", "index", "dist")
	if digest := sourcetest.Digest([]byte(h.read("dist/alpha-1.1.0.tgz"))); !strings.Contains(h.read("dist/index.yaml"), digest) {
		t.Errorf("another size: %s", h.read("dist/index.yaml"))
	}
	h.write("dist/alpha-1.1.0.tgz", strings.Repeat("x", len(h.read("dist/alpha-1.1.0.tgz"))))
	must(t, errors.Join(os.Chtimes(h.path("dist/alpha-1.1.0.tgz"), long, long), os.Remove(h.path("dist/index.yaml"))))
	if r := h.ok("repo", "index", "dist"); !strings.Contains(r.err, "alpha-1.1.0.tgz is left out") {
		t.Errorf("without an index: %s", r.err)
	}
}

// The newest versions of each chart are kept, including those from another index, and Helm can read the
// result.
func TestIndexPrunes(t *testing.T) {
	h := newHome(t)
	h.published("old", map[string][]string{"alpha": {"0.1.0", "3.0.0"}, "gone": {"1.0.0"}})
	h.ok("repo", "index", "old", "--url", "http://old")
	h.published("dist", map[string][]string{"alpha": {"1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"}, "beta": {"1.0.0"}})
	r := h.ok("repo", "index", "dist", "--merge", "old/index.yaml", "--prune", "3")
	versions := map[string][]string{}
	for name, list := range entries(t, h.read("dist/index.yaml")) {
		for _, e := range list {
			versions[name] = append(versions[name], e["version"].(string))
		}
	}
	want := map[string][]string{"alpha": {"3.0.0", "2.0.0-rc.1", "1.10.0"}, "beta": {"1.0.0"}, "gone": {"1.0.0"}}
	if !maps.EqualFunc(versions, want, slices.Equal) || !strings.Contains(r.err, "older versions: 3") || !h.exists("dist/alpha-1.0.0.tgz") {
		t.Errorf("%v: %s", versions, r.err)
	}
	before := h.read("dist/index.yaml")
	h.ok("repo", "index", "dist", "--merge", "old/index.yaml", "--prune", "3")
	if h.read("dist/index.yaml") != before {
		t.Error("the same once more is another file")
	}
	h.fails(1, "can't be negative", "repo", "index", "dist", "--prune", "-1")
	h.helm("repo", "index", "dist", "--merge", "dist/index.yaml")
}
