//go:build cluster

package sources_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

func testContext() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

const repositoriesFile = ".config/helm/repositories.yaml"

// Our repositories.yaml is Helm's, byte for byte.
func TestCheck01RepoAddIsHelms(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	ours, theirs := newHome(t), newHome(t)
	ours.ok("repo", "add", "a", a.URL)
	theirs.helm("repo", "add", "a", a.URL)
	if ours.read(repositoriesFile) != theirs.read(repositoriesFile) {
		t.Errorf("ours:\n%s\nHelm's:\n%s", ours.read(repositoriesFile), theirs.read(repositoriesFile))
	}
	var listed []map[string]string
	if err := json.Unmarshal([]byte(ours.helm("repo", "list", "-o", "json").out), &listed); err != nil || len(listed) != 1 || listed[0]["url"] != a.URL {
		t.Errorf("%v, %v", listed, err)
	}
	if info, err := os.Stat(ours.path(repositoriesFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	names := strings.Fields(ours.read(".cache/helm/repository/a-charts.txt"))
	if slices.Sort(names); !slices.Equal(names, []string{"alpha", "beta", "plus", "pre"}) {
		t.Errorf("charts.txt: %q", names)
	}
	if !same(ours.helm("template", "web", "a/alpha"), ours.ok("template", "web", "a/alpha")) {
		t.Error("Helm renders another chart")
	}
}

func TestCheck02CredentialsOfHelms(t *testing.T) {
	b := repositoryA(t, sourcetest.Options{User: "u", Password: "p"})
	h := newHome(t)
	h.helm("repo", "add", "b", b.URL, "--username", "u", "--password", "p")
	if out := h.ok("show", "chart", "b/alpha").out; !strings.Contains(out, "version: 1.0.0") {
		t.Error(out)
	}
	h.fails(11, "401", "show", "chart", "alpha", "--repo", b.URL)
}

func TestCheck03RepoAddTwice(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	before := h.read(repositoriesFile)
	a.Requests()
	h.ok("repo", "add", "a", a.URL)
	if asked := a.Asked(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
	h.fails(1, "already exists", "repo", "add", "a", a.URL+"/other")
	if h.read(repositoriesFile) != before {
		t.Error("the file has changed")
	}
	a.Put("/other/index.yaml", a.File("/index.yaml"))
	h.ok("repo", "add", "a", a.URL+"/other", "--force-update")
	if !strings.Contains(h.helm("repo", "list").out, "/other") {
		t.Error("it is not replaced")
	}
}

func TestCheck04RepoAddRefuses(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.fails(1, `"x/y" is not a valid repository name`, "repo", "add", "x/y", a.URL)
	h.fails(10, "is not a repository that can be read", "repo", "add", "bad", a.URL+"/nothing")
	h.fails(1, "is a registry", "repo", "add", "bad", "oci://127.0.0.1/charts")
	h.fails(1, "there is no terminal to ask on", "repo", "add", "bad", a.URL, "--username", "u")
	if h.exists(repositoriesFile) {
		t.Error("a file was written")
	}
}

func TestCheck05UpdateIsConditional(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	q := a.Requests()
	if len(q) != 1 || !strings.Contains(q[0].Header.Get("Accept-Encoding"), "gzip") {
		t.Errorf("%+v", q)
	}
	h.ok("repo", "update")
	if q = a.Requests(); len(q) != 1 || q[0].Status != http.StatusNotModified || q[0].Header.Get("If-None-Match") == "" {
		t.Errorf("%+v", q)
	}
}

func TestCheck06UpdateGoesOn(t *testing.T) {
	a, dead := repositoryA(t, sourcetest.Options{}), repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "dead", dead.URL)
	h.ok("repo", "add", "a", a.URL)
	dead.Put("/index.yaml", []byte("gone"))
	a.Publish(t, map[string][]string{"alpha": {"1.0.0", "3.0.0"}})
	r := h.fails(1, "not updated: dead", "repo", "update")
	if !strings.Contains(r.out, "a: updated") {
		t.Error(r.out)
	}
	if out := h.ok("show", "chart", "a/alpha").out; !strings.Contains(out, "version: 3.0.0") {
		t.Error(out)
	}
	h.fails(1, `there is no repository "nosuch"`, "repo", "update", "nosuch")
}

func TestCheck10LenientIndex(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	index := strings.Replace(string(a.File("/index.yaml")), "entries:\n  alpha:\n", "newkey: 1\nentries:\n  alpha:\n  - null\n  - {name: alpha}\n", 1)
	a.Put("/index.yaml", []byte(index))
	h.ok("repo", "add", "a", a.URL)
	r := h.ok("show", "chart", "a/alpha")
	if !strings.Contains(r.err, "alpha[0]: it is left out: it is null") || !strings.Contains(r.err, "alpha[1]: it is left out: version is required") {
		t.Error(r.err)
	}
	a.Put("/index.yaml", []byte(strings.Replace(index, "  beta:\n", "  alpha:\n", 1)))
	h.fails(1, `chart "alpha" is listed twice`, "repo", "add", "b", a.URL)
}

func TestCheck12RepoFlag(t *testing.T) {
	b := repositoryA(t, sourcetest.Options{User: "u", Password: "p"})
	h := newHome(t)
	args := []string{"template", "web", "alpha", "--repo", b.URL, "--username", "u", "--password", "p"}
	if ours, theirs := h.ok(args...), h.helm(args...); !same(ours, theirs) {
		t.Errorf("ours:\n%s\nHelm's:\n%s", ours.out, theirs.out)
	}
}

// The error says whose certificate is not trusted, and how to change that.
func TestTheServerOfAChartIsNotTrusted(t *testing.T) {
	b := repositoryA(t, sourcetest.Options{TLS: true})
	h := newHome(t)
	h.fails(1, "Hint: the certificate of the chart's server is not trusted: ", "template", "web", "alpha", "--repo", b.URL)
	h.ok("template", "web", "alpha", "--repo", b.URL, "--ca-file", b.CAFile)
}

func TestCheck13Prereleases(t *testing.T) {
	h := withA(t)
	h.fails(1, "--devel", "template", "a/pre")
	h.ok("template", "a/pre", "--devel")
	h.ok("template", "a/pre", "--version", "1.0.0-rc.1")
}

func TestCheck14ExactIsExact(t *testing.T) {
	h := withA(t)
	h.fails(1, "there is no version 1.0.0+other; there is 1.0.0+build.5, 1.0.0+build.1", "template", "a/plus", "--version", "1.0.0+other")
	if out := h.ok("template", "a/plus", "--version", "1.0.0+build.1").out; !strings.Contains(out, "1.0.0+build.1") {
		t.Error(out)
	}
}

func TestCheck15Ranges(t *testing.T) {
	h := withA(t)
	for _, version := range []string{">=1 <2", "^1", "1.x", "~1.2", "1.2 - 1.3", "1.2", "", "*", ">1.2.0,<1.3", "1.0.0 || 2.x", "v1.2.0"} {
		args := []string{"template", "web", "a/beta", "--version", version}
		if ours, theirs := h.ok(args...), h.helm(args...); !same(ours, theirs) {
			t.Errorf("%s: ours:\n%s\nHelm's:\n%s", version, ours.out, theirs.out)
		}
	}
}

func TestCheck16FiveSentences(t *testing.T) {
	h := withA(t)
	seen := map[string]bool{}
	for _, ref := range []string{"nosuch", "x/y", "./nope", "a/nope", "ftp://h/x.tgz"} {
		r := h.fails(1, "", "template", "web", ref)
		if strings.Contains(r.err, "no such file") {
			t.Errorf("%s: what the operating system says is no advice: %s", ref, r.err)
		}
		if line, _, _ := strings.Cut(r.err, "\n"); seen[line] {
			t.Errorf("%s: %s is said of another one, too", ref, line)
		} else {
			seen[line] = true
		}
	}
}

func TestCheck17LocalWins(t *testing.T) {
	h := withA(t)
	h.write("a/alpha/Chart.yaml", "apiVersion: v2\nname: local\nversion: 9.9.9\n")
	r := h.ok("show", "chart", "a/alpha", "--version", "1.0.0")
	if !strings.Contains(r.out, "name: local") || !strings.Contains(r.err, "a/alpha is a file or folder here, and is used instead of chart") || !strings.Contains(r.err, "--version has no effect") {
		t.Errorf("%s%s", r.out, r.err)
	}
}

// withA returns a home that knows repository a.
func withA(t testing.TB) *home {
	t.Helper()
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	return h
}

// A repository's password is kept by the helper that sources.yaml names, and is in no file. The helper
// is asked once per run, and only if something is fetched.
func TestPasswordsInAHelper(t *testing.T) {
	b := repositoryA(t, sourcetest.Options{User: "u", Password: "p-secret"})
	h := newHome(t)
	h.credentialHelper()
	h.write(".config/helm/kubectl-release/sources.yaml", "credsStore: test\n")
	add := func(password string, more ...string) result {
		return h.runProgram(password+"\n", append([]string{"repo", "add", "b", b.URL, "--username", "u", "--password-stdin"}, more...)...)
	}
	if r := add("wrong"); r.code != 11 || h.exists("kept") || h.exists(repositoriesFile) {
		t.Errorf("a wrong password: %+v", r)
	}
	if r := add("p-secret"); r.code != 0 || !strings.Contains(h.read("kept"), `"ServerURL":"`+b.URL+`"`) {
		t.Fatalf("%+v", r)
	}
	for name, content := range h.tree(".") {
		if name != "kept" && strings.Contains(content, "p-secret") {
			t.Errorf("%s has the password", name)
		}
	}
	h.write("helper.log", "")
	h.ok("repo", "update")
	h.ok("template", "web", "b/alpha")
	if asked := h.read("helper.log"); asked != "get\nget\n" {
		t.Errorf("it was asked %q", asked)
	}
	h.ok("template", "web", "b/alpha")
	if asked := h.read("helper.log"); asked != "get\nget\n" {
		t.Errorf("for a chart in the cache, %q", asked)
	}
	b.Requests()
	if r := add("p-secret"); r.code != 0 || !strings.Contains(r.out, "skipping") || len(b.Asked()) != 0 {
		t.Errorf("the same once more: %+v", r)
	}
	if r := add("other"); r.code != 1 || !strings.Contains(r.err, "already exists") {
		t.Errorf("another password: %+v", r)
	}
	h.ok("repo", "remove", "b")
	if h.exists("kept") {
		t.Error("the helper still has the password")
	}
	// A password that is in the file moves to the helper.
	h.helm("repo", "add", "b", b.URL, "--username", "u", "--password", "p-secret")
	if r := add("p-secret", "--force-update"); r.code != 0 || strings.Contains(h.read(repositoriesFile), "p-secret") || !h.exists("kept") {
		t.Errorf("%+v\n%s", r, h.read(repositoriesFile))
	}
	h.write("bin/docker-credential-test", "#!/bin/sh\necho the keyring is locked\nexit 1\n")
	h.fails(1, "the keyring is locked", "show", "chart", "b/beta")
}
