//go:build cluster

package sources_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// umbrella writes a chart with dependencies, each a line of YAML.
func (h *home) umbrella(name string, dependencies ...string) {
	h.t.Helper()
	h.write(name+"/Chart.yaml", "apiVersion: v2\nname: "+filepath.Base(name)+"\nversion: 1.0.0\ndependencies:\n- "+strings.Join(dependencies, "\n- ")+"\n")
}

// tree returns the contents of a folder's files by their names; for a link, its target.
func (h *home) tree(name string) map[string]string {
	h.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(h.path(name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rest, _ := filepath.Rel(h.path(name), path)
		if d.Type()&fs.ModeSymlink != 0 {
			out[rest], err = os.Readlink(path)
			return err
		}
		data, err := os.ReadFile(path)
		out[rest] = string(data)
		return err
	})
	must(h.t, err)
	return out
}

// files returns the names in a chart's charts/.
func (h *home) files(chart string) []string {
	h.t.Helper()
	entries, err := os.ReadDir(h.path(chart, "charts"))
	must(h.t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

var (
	generatedLine = regexp.MustCompile(`(?m)^generated: .*\n`)
	ownDigest     = regexp.MustCompile(`(?m)^- digest: .*\n  `)
)

// helmsPart returns a lock as Helm would write it, without the time.
func helmsPart(lock string) string {
	return generatedLine.ReplaceAllString(ownDigest.ReplaceAllString(lock, "- "), "")
}

func TestCheck35UpdateIsParallel(t *testing.T) {
	var arrived atomic.Int32
	all := make(chan struct{})
	// No archive is served before all three have been requested.
	together := func(w http.ResponseWriter, q *http.Request, _ int) bool {
		if !strings.HasSuffix(q.URL.Path, ".tgz") {
			return false
		}
		if arrived.Add(1) == 3 {
			close(all)
		}
		select {
		case <-all:
			return false
		case <-time.After(5 * time.Minute):
			http.NotFound(w, q)
			return true
		}
	}
	slow := repositoryA(t, sourcetest.Options{Fault: together})
	h := newHome(t)
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+slow.URL+"}", "{name: beta, version: 1.x, repository: "+slow.URL+"}", "{name: plus, version: ^1, repository: "+slow.URL+"}")
	h.ok("dependency", "update", "um")
	asked := slow.Asked()
	if slices.Sort(asked); !slices.Equal(asked, []string{"GET /alpha-1.0.0.tgz OK", "GET /beta-1.3.0.tgz OK", "GET /index.yaml OK", "GET /plus-1.0.0+build.5.tgz OK"}) {
		t.Errorf("asked %q", asked)
	}
	if files := h.files("um"); !slices.Equal(files, []string{"alpha-1.0.0.tgz", "beta-1.3.0.tgz", "plus-1.0.0+build.5.tgz"}) {
		t.Errorf("%q", files)
	}
	h.ok("dep", "up", "um")
	if asked := slow.Asked(); len(asked) != 1 || !strings.HasPrefix(asked[0], "GET /index.yaml Not Modified") {
		t.Errorf("asked again: %q", asked)
	}
}

// The lock is Helm's, byte for byte, apart from the time and from the digests that Helm ignores.
func TestCheck36LockIsHelms(t *testing.T) {
	a, other := repositoryA(t, sourcetest.Options{}), repositoryA(t, sourcetest.Options{})
	const near = "apiVersion: v2\nname: near\nversion: 0.3.1\n"
	for name, dependencies := range map[string][]string{
		"range":   {`{name: alpha, version: ">=0.5.0 <2", repository: ` + a.URL + `}`},
		"slash":   {`{name: alpha, version: 0.9.0, repository: ` + a.URL + `/}`},
		"alias":   {`{name: beta, version: ~1.2, repository: "@a", alias: one}`, `{name: beta, version: 2, repository: "alias:a", alias: two}`},
		"options": {`{name: alpha, version: "*", repository: ` + other.URL + `, condition: "a.b,c & d", tags: [x, y], import-values: [data, {child: c, parent: p}]}`},
		"file":    {`{name: near, version: ">0.1.0", repository: file://../near}`, `{name: alpha, version: ^1, repository: ` + a.URL + `}`},
		"nothing": {`{name: hand, version: 1.x, repository: ""}`, `{name: alpha, version: 1.0.0, repository: ` + a.URL + `}`},
		"devel":   {`{name: pre, version: ">0.0.0-0", repository: ` + a.URL + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.ok("repo", "add", "a", a.URL)
			h.umbrella("ours/"+name, dependencies...)
			h.umbrella("theirs/"+name, dependencies...)
			h.write("ours/near/Chart.yaml", near)
			h.write("theirs/near/Chart.yaml", near)
			if name == "nothing" {
				h.write("ours/nothing/charts/hand/Chart.yaml", "apiVersion: v2\nname: hand\nversion: 1.0.0\n")
				h.write("theirs/nothing/charts/hand/Chart.yaml", "apiVersion: v2\nname: hand\nversion: 1.0.0\n")
			}
			ours, theirs := "ours/"+name, "theirs/"+name
			h.ok("dependency", "update", ours)
			h.helm("dependency", "update", theirs)
			if got, want := helmsPart(h.read(ours+"/Chart.lock")), helmsPart(h.read(theirs+"/Chart.lock")); got != want {
				t.Errorf("ours:\n%s\nHelm's:\n%s", got, want)
			}
			if got, want := h.files(ours), h.files(theirs); !slices.Equal(got, want) {
				t.Errorf("ours: %q, Helm's: %q", got, want)
			}
			h.ok("dependency", "build", theirs)
			h.ok("repo", "add", "other", other.URL)
			lock := h.read(ours + "/Chart.lock")
			h.helm("dependency", "build", ours)
			h.helm("dependency", "update", ours)
			if h.read(ours+"/Chart.lock") != lock {
				t.Error("Helm writes another lock")
			}
			h.ok("dependency", "build", ours, "--check")
		})
	}
}

// The lock of the other apiVersion counts if there is no other, as in Helm 4.3.1.
func TestBuildFromTheLockOfAnotherAPIVersion(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	ours, helms := newHome(t), newHome(t)
	for h, run := range map[*home]func(...string) result{ours: ours.ok, helms: helms.helm} {
		run("repo", "add", "a", a.URL)
		h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}")
		run("dependency", "update", "um")
		must(t, os.Rename(h.path("um/Chart.lock"), h.path("um/requirements.lock")))
		run("dependency", "build", "um")
		if h.exists("um/Chart.lock") {
			t.Errorf("versions were chosen again:\n%s", h.read("um/Chart.lock"))
		}
	}
}

// A v1 chart has its lock in requirements.lock, which may be Helm 2's.
func TestCheck36LockOfV1(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	for _, chart := range []string{"ours", "theirs"} {
		h.write(chart+"/Chart.yaml", "apiVersion: v1\nname: um\nversion: 1.0.0\n")
		h.write(chart+"/requirements.yaml", "dependencies:\n- name: alpha\n  version: ^1\n  repository: '@a'\n  tags: [x, y]\n")
	}
	h.ok("dependency", "update", "ours")
	h.helm("dependency", "update", "theirs")
	if got, want := helmsPart(h.read("ours/requirements.lock")), helmsPart(h.read("theirs/requirements.lock")); got != want || h.exists("ours/Chart.lock") {
		t.Errorf("ours:\n%s\nHelm's:\n%s", got, want)
	}
	// {"dependencies":[{"name":"alpha","version":"^1","repository":"@a","tags":["x","true"]}]}
	const old = "sha256:OLD"
	lock := regexp.MustCompile(`(?m)^digest: .*`).ReplaceAllString(h.read("ours/requirements.lock"), "digest: "+strings.Replace(old, "OLD", sourcetest.Digest([]byte(`{"dependencies":[{"name":"alpha","version":"^1","repository":"@a","tags":["x","true"]}]}`)), 1))
	h.write("ours/requirements.lock", lock)
	h.helm("dependency", "build", "ours")
	h.ok("dependency", "build", "ours")
}

func TestCheck37BuildWorksFromTheLock(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	h.umbrella("um", "{name: alpha, version: ^1, repository: '@a'}", "{name: beta, version: 1.2.x, repository: "+a.URL+"}")
	h.ok("dependency", "update", "um")
	other := newHome(t)
	for _, file := range []string{"um/Chart.yaml", "um/Chart.lock"} {
		other.write(file, h.read(file))
	}
	a.Publish(t, map[string][]string{"alpha": {"1.0.0", "1.5.0"}, "beta": {"1.2.5", "1.2.9"}})
	if r := other.helm4("dependency", "build", "um"); r.code == 0 {
		t.Error("Helm has learnt to build without repo add: docs/sources.md says otherwise")
	}
	must(t, os.RemoveAll(other.path("um/charts")))
	a.Requests()
	lock := other.read("um/Chart.lock")
	other.ok("dependency", "build", "um")
	if !maps.Equal(other.tree("um/charts"), h.tree("um/charts")) || other.read("um/Chart.lock") != lock {
		t.Errorf("%q", other.files("um"))
	}
	if asked := a.Asked(); len(asked) != 3 {
		t.Errorf("asked %q", asked)
	}
	for range 2 {
		other.ok("dependency", "build", "um")
		other.ok("dependency", "build", "um", "--offline")
		other.ok("dependency", "build", "um", "--check")
	}
	if asked := a.Asked(); len(asked) != 0 {
		t.Errorf("asked again %q", asked)
	}
	must(t, os.Remove(other.path("um/charts/alpha-1.0.0.tgz")))
	if r := other.k("dependency", "build", "um", "--check"); r.code != 2 || other.exists("um/charts/alpha-1.0.0.tgz") {
		t.Errorf("%+v", r)
	}
	must(t, os.RemoveAll(other.path(".cache")))
	if r := other.k("dependency", "build", "um", "--check"); r.code != 2 || !strings.Contains(r.out, "alpha 1.0.0: missing from charts/") {
		t.Errorf("%+v", r)
	}
	other.fails(9, "is not in the cache", "dependency", "build", "um", "--offline")
	if asked := a.Asked(); len(asked) != 0 {
		t.Errorf("--check asked %q", asked)
	}
}

func TestCheck38RepublishedIsRefused(t *testing.T) {
	a, r := repositoryA(t, sourcetest.Options{}), plainRegistry(t)
	h := newHome(t)
	registry := "oci://" + r.Host + "/charts"
	h.ok("push", h.chartFile("gamma", "1.0.0", "first"), registry)
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}")
	h.umbrella("reg", "{name: gamma, version: ^1, repository: "+registry+"}")
	h.ok("dependency", "update", "um")
	h.ok("dependency", "update", "reg")
	other := sourcetest.Chart(t, "alpha", "1.0.0", "other")
	a.Put("/alpha-1.0.0.tgz", other)
	a.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(other)}))
	h.ok("push", h.chartFile("gamma", "1.0.0", "second"), registry, "--force")
	for chart, name := range map[string]string{"um": "alpha 1.0.0", "reg": "gamma 1.0.0"} {
		before := h.tree(chart)
		fresh := newHome(t)
		fresh.write(chart+"/Chart.yaml", before["Chart.yaml"])
		fresh.write(chart+"/Chart.lock", before["Chart.lock"])
		var lock struct{ old, now string }
		lock.old = sourcetest.Digest([]byte(before["charts/"+strings.Replace(name, " ", "-", 1)+".tgz"]))
		lock.now = sourcetest.Digest(other)
		if chart == "reg" {
			lock.now = sourcetest.Digest([]byte(h.read("gamma-1.0.0.tgz")))
		}
		for _, command := range []string{"build", "update"} {
			out := fresh.fails(8, name, "dependency", command, chart)
			if !strings.Contains(out.err, lock.old) || !strings.Contains(out.err, lock.now) {
				t.Errorf("%s: %s", command, out.err)
			}
			if fresh.exists(chart+"/charts") || fresh.read(chart+"/Chart.lock") != before["Chart.lock"] {
				t.Errorf("%s has written something", command)
			}
		}
		fresh.fails(8, name, "dependency", "build", chart, "--allow-digest-mismatch")
		fresh.ok("dependency", "update", chart, "--allow-digest-mismatch")
		if !strings.Contains(fresh.read(chart+"/Chart.lock"), "- digest: sha256:"+lock.now) {
			t.Error(fresh.read(chart + "/Chart.lock"))
		}
		// What is already there is what was locked, and nobody is asked.
		h.ok("dependency", "build", chart)
	}
}

func TestCheck39EditedLock(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.umbrella("um", "{name: beta, version: ^1, repository: "+a.URL+"}")
	h.ok("dependency", "update", "um")
	good := h.read("um/Chart.lock")
	h.write("um/Chart.lock", strings.Replace(good, "version: 1.3.0", "version: 1.2.5", 1))
	h.fails(12, "one of them was edited by hand", "dependency", "build", "um")
	h.fails(2, "is out of sync", "dependency", "build", "um", "--check")
	h.helm("dependency", "update", "um")
	if !strings.Contains(h.read("um/Chart.lock"), "version: 1.2.5") {
		t.Error("Helm has learnt to rewrite an edited lock: docs/sources.md says otherwise")
	}
	h.ok("dependency", "update", "um")
	if generatedLine.ReplaceAllString(h.read("um/Chart.lock"), "") != generatedLine.ReplaceAllString(good, "") {
		t.Error(h.read("um/Chart.lock"))
	}
	h.write("um/Chart.lock", strings.Replace(good, "version: 1.3.0", "version: ../../x", 1))
	h.fails(12, "out of sync", "dependency", "build", "um")
	h.umbrella("um", "{name: beta, version: ^2, repository: "+a.URL+"}")
	h.write("um/Chart.lock", good)
	h.fails(12, `beta: version 1.3.0 does not satisfy "^2"`, "dependency", "build", "um")
}

// Two dependencies on the same chart are one download.
func TestOneArchiveIsFetchedOnce(t *testing.T) {
	a, r := repositoryA(t, sourcetest.Options{Delay: 50 * time.Millisecond}), plainRegistry(t)
	h := newHome(t)
	h.ok("push", h.chartFile("gamma", "1.0.0", ""), "oci://"+r.Host+"/charts")
	for i, repository := range []string{a.URL, "oci://" + r.Host + "/charts"} {
		name := []string{"alpha", "gamma"}[i]
		h.umbrella(name+"s", "{name: "+name+", version: ^1, repository: "+repository+", alias: one}", "{name: "+name+", version: ^1, repository: "+repository+", alias: two}")
		must(t, os.RemoveAll(h.path(".cache")))
		r.Forget()
		h.ok("dependency", "update", name+"s")
	}
	if asked := a.Asked(); !slices.Equal(asked, []string{"GET /index.yaml OK", "GET /alpha-1.0.0.tgz OK"}) {
		t.Errorf("asked %q", asked)
	}
	blobs := 0
	for _, q := range r.Asked() {
		if strings.HasPrefix(q, "GET ") && strings.Contains(q, "/blobs/") {
			blobs++
		}
	}
	if blobs != 1 {
		t.Errorf("the registry was asked %q", r.Asked())
	}
}

func TestCheck40OneNameTwoRepositories(t *testing.T) {
	a, b := sourcetest.Serve(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{})
	a.Publish(t, map[string][]string{"redis": {"1.0.0"}})
	b.Publish(t, map[string][]string{"redis": {"2.0.0", "1.0.0"}})
	h := newHome(t)
	h.umbrella("um", "{name: redis, version: '*', repository: "+a.URL+", alias: one}", "{name: redis, version: '*', repository: "+b.URL+", alias: two}")
	h.ok("dependency", "update", "um")
	if files := h.files("um"); !slices.Equal(files, []string{"redis-1.0.0.tgz", "redis-2.0.0.tgz"}) {
		t.Errorf("%q", files)
	}
	if h.read("um/charts/redis-1.0.0.tgz") != string(a.File("/redis-1.0.0.tgz")) || h.read("um/charts/redis-2.0.0.tgz") != string(b.File("/redis-2.0.0.tgz")) {
		t.Error("other archives")
	}
	// Two charts with the same name and version are two files.
	b.Put("/redis-1.0.0.tgz", sourcetest.Chart(t, "redis", "1.0.0", "b"))
	b.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "redis", Version: "1.0.0", URL: "redis-1.0.0.tgz"}))
	h.umbrella("um", "{name: redis, version: 1.0.0, repository: "+a.URL+", alias: one}", "{name: redis, version: 1.0.0, repository: "+b.URL+", alias: two}")
	h.ok("dependency", "update", "um")
	if files := h.files("um"); !slices.Equal(files, []string{"redis-1.0.0-two.tgz", "redis-1.0.0.tgz"}) {
		t.Errorf("%q", files)
	}
	h.ok("dependency", "build", "um", "--check")
}

func TestCheck41Recursive(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.umbrella("um", "{name: mid, version: '*', repository: file://mid}")
	h.umbrella("um/mid", "{name: low, version: '*', repository: file://../../low}")
	h.umbrella("low", "{name: alpha, version: ^1, repository: "+a.URL+"}")
	h.fails(1, "pass --recursive to fetch them", "dependency", "update", "um")
	if r := h.k("dependency", "update", "um", "--recursive", "--check"); r.code != 2 || h.exists("low/charts") {
		t.Errorf("%+v", r)
	}
	h.ok("dependency", "update", "um", "--recursive")
	if out := h.ok("template", "web", "um").out; !strings.Contains(out, "web-alpha") {
		t.Error(out)
	}
	if r := h.helm("template", "web", "um"); !strings.Contains(r.out, "web-alpha") {
		t.Error(r.out)
	}
	before := h.tree(".")
	h.ok("dependency", "update", "um", "--recursive", "--check")
	h.ok("dependency", "build", "um", "--recursive")
	if !maps.Equal(h.tree("um"), subtree(before, "um")) {
		t.Error("the second run changes something")
	}
	h.umbrella("low", "{name: um, version: '*', repository: file://../um}")
	h.fails(1, "in a circle", "dependency", "update", "um", "--recursive")
}

func subtree(tree map[string]string, folder string) map[string]string {
	out := map[string]string{}
	for name, data := range tree {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			out[rest] = data
		}
	}
	return out
}

func TestCheck42WhatStaysAndWhatGoes(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}", "{name: hand, version: '*', repository: ''}", "{name: held, version: '*', repository: ''}")
	h.write("um/charts/hand/Chart.yaml", "apiVersion: v2\nname: hand\nversion: 1.0.0\n")
	h.write("um/charts/hand/templates/cm.yaml", "a: b\n")
	h.write("um/charts/held-1.0.0.tgz", string(sourcetest.Chart(t, "held", "1.0.0", "")))
	h.write("um/charts/old-1.0.0.tgz", string(sourcetest.Chart(t, "old", "1.0.0", "")))
	h.write("um/charts/alpha-0.9.0.tgz", string(a.File("/alpha-0.9.0.tgz")))
	h.write("um/charts/_README", "text")
	must(t, os.Chmod(h.path("um/charts/hand/templates/cm.yaml"), 0o600))
	alpha := a.File("/alpha-1.0.0.tgz")
	a.Put("/alpha-1.0.0.tgz", []byte("broken"))
	before := h.tree("um")
	h.fails(8, "was promised", "dependency", "update", "um")
	if !maps.Equal(h.tree("um"), before) {
		t.Errorf("%v", slices.Sorted(maps.Keys(h.tree("um"))))
	}
	a.Put("/alpha-1.0.0.tgz", alpha)
	h.ok("dependency", "update", "um")
	if files := h.files("um"); !slices.Equal(files, []string{"_README", "alpha-1.0.0.tgz", "hand", "held-1.0.0.tgz"}) {
		t.Errorf("%q", files)
	}
	if h.read("um/charts/hand/templates/cm.yaml") != "a: b\n" || h.read("um/charts/held-1.0.0.tgz") != before["charts/held-1.0.0.tgz"] {
		t.Error("what stays has changed")
	}
	if info, err := os.Stat(h.path("um/charts/hand/templates/cm.yaml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left := slices.Sorted(maps.Keys(h.tree("um"))); len(left) != 7 {
		t.Errorf("something is left: %q", left)
	}
	h.umbrella("um", "{name: gone, version: '*', repository: ''}")
	h.fails(1, "it has no repository, and is not in charts/", "dependency", "update", "um")
}

func TestCheck43Links(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	victim := string(sourcetest.Chart(t, "victim", "1.0.0", ""))
	for _, link := range []string{"charts", "Chart.lock", "requirements.lock", "charts/alpha-1.0.0.tgz", "charts/x.tgz"} {
		for _, command := range []string{"update", "build"} {
			h := newHome(t)
			h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}")
			to := h.write("victim/victim-1.0.0.tgz", victim)
			if link == "charts" {
				to = h.path("victim")
			} else {
				must(t, os.MkdirAll(h.path("um/charts"), 0o755))
			}
			must(t, os.Symlink(to, h.path("um", link)))
			before := h.tree(".")
			h.fails(1, "link to "+to, "dependency", command, "um")
			// What may be read through a link is not written through one.
			h.fails(1, "link to "+to, "dependency", command, "um", "--allow-outside-symlinks")
			after := h.tree(".")
			maps.DeleteFunc(after, func(name, _ string) bool { return strings.HasPrefix(name, ".cache") })
			if !maps.Equal(before, after) {
				t.Errorf("%s %s: %q", command, link, slices.Sorted(maps.Keys(after)))
			}
		}
	}
	// Helm writes through the folder, and deletes what it finds there.
	h := newHome(t)
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}")
	h.write("victim/victim-1.0.0.tgz", victim)
	must(t, os.Symlink(h.path("victim"), h.path("um/charts")))
	h.helm4("dependency", "update", "um")
	if h.exists("victim/victim-1.0.0.tgz") && !h.exists("victim/alpha-1.0.0.tgz") {
		t.Error("Helm has learnt to refuse a linked charts/: docs/sources.md says otherwise")
	}
}

func TestDependencyListIsHelms(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.umbrella("um",
		"{name: alpha, version: ^1, repository: "+a.URL+"}", "{name: beta, version: ^2, repository: "+a.URL+"}",
		"{name: hand, version: 1.x, repository: ''}", "{name: gone, version: '*', repository: "+a.URL+"}")
	h.write("um/charts/hand/Chart.yaml", "apiVersion: v2\nname: hand\nversion: 1.0.0\n")
	h.write("um/charts/alpha-1.0.0.tgz", string(a.File("/alpha-1.0.0.tgz")))
	h.write("um/charts/beta-1.2.0.tgz", string(a.File("/beta-1.2.0.tgz")))
	h.write("um/charts/extra-1.0.0.tgz", string(sourcetest.Chart(t, "extra", "1.0.0", "")))
	rows := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(words) > 0 && words[0] != "NAME" && words[0] != "WARNING:" {
				out = append(out, strings.Join(words, " "))
			}
		}
		return out
	}
	ours, theirs := h.ok("dependency", "list", "um"), h.helm("dependency", "list", "um")
	if !slices.Equal(rows(ours.out), rows(theirs.out)) {
		t.Errorf("ours:\n%s\nHelm's:\n%s", ours.out, theirs.out)
	}
	if !strings.Contains(ours.err, "charts/extra-1.0.0.tgz: it is not in Chart.yaml") {
		t.Error(ours.err)
	}
	var listed []map[string]string
	must(t, json.Unmarshal([]byte(h.ok("dep", "ls", "um", "-o", "json").out), &listed))
	if fmt.Sprint(listed[1]["status"], listed[3]["status"]) != "wrong versionmissing" {
		t.Errorf("%v", listed)
	}
}

func TestDependencyUpdateFlag(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.umbrella("um", "{name: alpha, version: ^1, repository: "+a.URL+"}")
	h.fails(1, "charts/ does not hold it", "template", "web", "um")
	if out := h.ok("template", "web", "um", "--dependency-update").out; !strings.Contains(out, "web-alpha") || strings.Contains(out, "up to date") {
		t.Error(out)
	}
	a.Requests()
	h.ok("template", "web", "um", "--dependency-update")
	if asked := a.Asked(); len(asked) != 0 {
		t.Errorf("nothing is missing, and asked %q", asked)
	}
	must(t, os.RemoveAll(h.path("um/charts")))
	h.fails(1, "not in charts/", "package", "um")
	h.ok("package", "um", "-u")
	h.fails(1, "choose one", "package", "um", "-u", "--check")
	must(t, os.Remove(h.path("um/charts/alpha-1.0.0.tgz")))
	h.ok("package", "um", "-u")
	bare := newHome(t)
	bare.write("um-1.0.0.tgz", string(sourcetest.Archive(t, "um", map[string]string{"Chart.yaml": h.read("um/Chart.yaml")})))
	bare.fails(1, "is not a folder", "template", "web", "um-1.0.0.tgz", "--dependency-update")
	// What is rendered is what was locked.
	h.write("um/charts/alpha-1.0.0.tgz", string(sourcetest.Chart(t, "alpha", "1.0.0", "other")))
	h.fails(8, "was promised", "template", "web", "um")
	h.fails(8, "was promised", "package", "um")
	h.fails(8, "was promised", "plan", "web", "um", "--against", "um", "--offline")
	if r := h.k("lint", "um"); r.code != 1 || !strings.Contains(r.out, "was promised") {
		t.Errorf("lint: %+v", r)
	}
	h.ok("dependency", "build", "um")
	h.ok("template", "web", "um")
}
