//go:build cluster

package sources_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Helm 4.3.1 installs whatever it gets; for us, the digest in the index counts, and once the repository
// is repaired, nothing of the replaced archive is left.
func TestCheck18And19ReplacedArchive(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	good, bad := a.File("/beta-2.0.0.tgz"), sourcetest.Chart(t, "beta", "2.0.0", "other")
	a.Put("/beta-2.0.0.tgz", bad)
	r := h.fails(8, sourcetest.Digest(good), "template", "web", "a/beta")
	if !strings.Contains(r.err, sourcetest.Digest(bad)) {
		t.Error(r.err)
	}
	helms := newHome(t)
	helms.helm("repo", "add", "a", a.URL)
	if out := helms.helm("template", "web", "a/beta").out; !strings.Contains(out, "other") {
		t.Error("Helm has learnt to check digests: docs/sources.md says otherwise")
	}
	a.Put("/beta-2.0.0.tgz", good)
	if out := h.ok("template", "web", "a/beta").out; strings.Contains(out, "other") {
		t.Error(out)
	}
	if out := helms.ok("template", "web", "a/beta").out; strings.Contains(out, "other") {
		t.Error("what Helm has cached under a digest that it does not have is used")
	}
}

func TestCheck20ForeignDigest(t *testing.T) {
	a, evil := repositoryA(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{})
	other := sourcetest.Chart(t, "foo", "1.0.0", "evil")
	evil.Put("/foo.tgz", other)
	evil.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "foo", Version: "1.0.0", URL: "foo.tgz", Digest: sourcetest.Digest(a.File("/alpha-1.0.0.tgz"))}))
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	h.ok("repo", "add", "evil", evil.URL)
	h.fails(8, "was promised", "template", "web", "evil/foo")
	h.ok("template", "web", "evil/foo", "--allow-digest-mismatch")
	h.helm("template", "web", "evil/foo") // poisons the cache that we share
	if out := h.ok("template", "web", "a/alpha").out; !strings.Contains(out, "web-alpha") || strings.Contains(out, "evil") {
		t.Error(out)
	}
	if out := h.helm("template", "web", "a/alpha").out; strings.Contains(out, "evil") {
		t.Error("our fetch has not mended the cache")
	}
}

func TestCheck21CorruptCache(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	want := h.ok("template", "web", "a/alpha").out
	hex := sourcetest.Digest(a.File("/alpha-1.0.0.tgz"))
	file := h.path(".cache/helm/content", hex[:2], hex+".chart")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	a.Requests()
	if got := h.ok("template", "web", "a/alpha").out; got != want {
		t.Error(got)
	}
	if asked := a.Asked(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
}

func TestCheck22CachedAndOffline(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	a.Requests()
	h.ok("template", "web", "a/alpha")
	h.ok("template", "web", "a/alpha")
	if asked := a.Asked(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
	a.Stop()
	h.ok("template", "web", "a/alpha", "--offline")
	h.fails(9, "is not in the cache", "template", "web", "a/beta", "--offline")
}

// Helm 3 and 4 send the credentials on to another port of the same address, too.
func TestCheck23RedirectToAnotherPort(t *testing.T) {
	other := sourcetest.Serve(t, sourcetest.Options{})
	other.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	moved := sourcetest.Serve(t, sourcetest.Options{Redirect: map[string]string{"/": other.URL + "/"}})
	args := []string{"template", "web", "alpha", "--repo", moved.URL, "--username", "u", "--password", "p"}
	sent := func() (n int) {
		for _, q := range other.Requests() {
			if q.Header.Get("Authorization") != "" {
				n++
			}
		}
		return n
	}
	newHome(t).ok(args...)
	if n := sent(); n != 0 {
		t.Errorf("we send credentials %d times", n)
	}
	newHome(t).helm(args...)
	if sent() == 0 {
		t.Error("Helm has learnt to keep credentials: docs/sources.md says otherwise")
	}
}

func TestCheck24AbsoluteURLs(t *testing.T) {
	other := sourcetest.Serve(t, sourcetest.Options{})
	b := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"})
	other.Put("/alpha.tgz", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	b.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: other.URL + "/alpha.tgz"}))
	h := newHome(t)
	for flag, want := range map[string]bool{"--pass-credentials=false": false, "--pass-credentials": true} {
		other.Requests()
		h.ok("template", "web", "alpha", "--repo", b.URL, "--username", "u", "--password", "p", flag)
		q := other.Requests()
		if len(q) != 1 || (q[0].Header.Get("Authorization") != "") != want {
			t.Errorf("%s: %+v", flag, q)
		}
	}
}

// Two versions of a chart are compared without a cluster.
func TestPlanAgainstAnotherVersion(t *testing.T) {
	h := withA(t)
	for _, args := range [][]string{{"--against", "a/beta", "--against-version", "1.0.0"}, {"--against-version", "1.0.0"}} {
		r := h.ok(append([]string{"plan", "web", "a/beta", "--version", "2"}, args...)...)
		if !strings.Contains(r.out, "beta 1.0.0 → 2.0.0") || !strings.Contains(r.out, "1.0.0 → 2.0.0") || strings.Count(r.err, "of repository a") != 2 {
			t.Errorf("%s%s", r.out, r.err)
		}
	}
}

func TestPull(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	h.ok("pull", "a/alpha", "--version", "0.9.0")
	if h.read("alpha-0.9.0.tgz") != string(a.File("/alpha-0.9.0.tgz")) {
		t.Error("it is another archive")
	}
	h.ok("pull", "a/alpha", a.URL+"/beta-2.0.0.tgz", "--untar", "--untardir", "charts")
	helms := newHome(t)
	helms.helm("pull", a.URL+"/beta-2.0.0.tgz", "--untar", "--untardir", "charts")
	for _, file := range []string{"charts/beta/Chart.yaml", "charts/beta/templates/cm.yaml"} {
		if h.read(file) != helms.read(file) {
			t.Errorf("%s differs", file)
		}
	}
	h.fails(1, "already exists", "pull", "a/alpha", "--untar", "--untardir", "charts")
	h.fails(1, "no such file", "pull", "a/alpha", "-d", "missing")
	if left, err := os.ReadDir(h.path("charts")); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// An absolute --untardir is not below --destination, and either is created, as in Helm 4.3.1.
func TestPullUnpacksWhereHelmDoes(t *testing.T) {
	a := repositoryA(t, sourcetest.Options{})
	ours, helms := newHome(t), newHome(t)
	for h, run := range map[*home]func(...string) result{ours: ours.ok, helms: helms.helm} {
		for folder, flags := range map[string][]string{
			"absolute": {"--untardir", h.path("absolute")},
			"new/out":  {"--destination", "new/out"},
			"both":     {"--destination", "unused", "--untardir", h.path("both")},
		} {
			run(append([]string{"pull", a.URL + "/beta-2.0.0.tgz", "--untar"}, flags...)...)
			h.read(folder + "/beta/Chart.yaml")
		}
	}
}
