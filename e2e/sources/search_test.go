//go:build cluster

package sources_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

func TestCheck53SearchIsHelms(t *testing.T) {
	a, b := repositoryA(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{})
	b.Put("/index.yaml", sourcetest.Index(
		sourcetest.Entry{Name: "alpine", Version: "0.2.0", URL: "x.tgz", Description: "small <&> Alpha"},
		sourcetest.Entry{Name: "zeta", Version: "1.0.0", URL: "x.tgz", Description: "like ALPHA"},
		sourcetest.Entry{Name: "zeta", Version: "1.1.0-rc.1", URL: "x.tgz", Description: "like alpha"},
	))
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL)
	h.ok("repo", "add", "bb", b.URL)
	a.Requests()
	for _, args := range [][]string{
		{"alp"},
		{},
		{"ALPHA"},
		{"bb/"},
		{"like alpha"},
		{"nothing"},
		{"alp", "--versions"},
		{"--versions"},
		{"--devel"},
		{"beta", "--version", "^1"},
		{"beta", "-l", "--version", ">=1.2 <2"},
		{"^al", "--regexp"},
		{"ALPHA", "--regexp"},
		{"a/b.t", "-r"},
		{"^a/al", "-r"},
		{"zeta", "--devel", "-l"},
		{"pre"},
	} {
		line := append([]string{"search", "repo", "-o", "json"}, args...)
		var ours, theirs []map[string]string
		must(t, json.Unmarshal([]byte(h.ok(line...).out), &ours))
		must(t, json.Unmarshal([]byte(h.helm(line...).out), &theirs))
		// Of two builds of one version, Helm shows whichever comes first in the index; we show the one
		// that install takes.
		for _, list := range [][]map[string]string{ours, theirs} {
			for _, row := range list {
				row["version"], _, _ = strings.Cut(row["version"], "+")
			}
		}
		if a, b := canonical(t, ours), canonical(t, theirs); a != b {
			t.Errorf("%q: ours:\n%s\nHelm's:\n%s", args, a, b)
		}
	}
	if out := h.ok("search", "repo", "plus").out; !strings.Contains(out, "1.0.0+build.5") {
		t.Error(out)
	}
	if asked := a.Asked(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
	if r := h.k("search", "repo", "nothing", "--fail-on-no-result"); r.code != 1 || !strings.Contains(r.out, "No results found") {
		t.Errorf("%+v", r)
	}
	h.fails(1, "error parsing regexp", "search", "repo", "(", "--regexp")
	h.fails(1, "improper constraint", "search", "repo", "--version", "one")
	b.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "evil", Version: "1.0.0", URL: "x.tgz", Description: "red \x1b[31m text"}))
	h.ok("repo", "update")
	if out := h.ok("search", "repo", "evil").out; strings.Contains(out, "\x1b") || !strings.Contains(out, "red") {
		t.Errorf("%q", out)
	}
	h.write(".cache/helm/repository/bb-index.yaml", "broken")
	if r := h.ok("search", "repo", "alp"); !strings.Contains(r.out, "a/alpha") || !strings.Contains(r.err, "index of bb") {
		t.Errorf("%+v", r)
	}
	newHome(t).fails(1, "there are no repositories", "search", "repo")
}
