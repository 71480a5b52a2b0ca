package source

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// pinnedTo fetches a chart and returns what a plan keeps of it.
func pinnedTo(t *testing.T, s *Sources, ref resolve.Reference) plan.ChartSource {
	t.Helper()
	f, err := fetch(t, s, ref)
	must(t, err)
	return *f.Pin(ref, "a/alpha")
}

// A repository is asked once whether a version still has the same bytes, whatever name it
// is known by, or none.
func TestDigestNow(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	planner, other, stranger := ours(t), ours(t), ours(t)
	add(t, planner, "a", server, Access{})
	add(t, other, "b", server, Access{})
	pin := pinnedTo(t, planner, configured("a", "alpha", ""))
	republished := sourcetest.Chart(t, "alpha", "1.0.0", "other")
	for _, now := range []struct {
		digest string
		asked  []string
	}{{pin.Digest, []string{"GET /index.yaml Not Modified"}}, {Digest(republished), []string{"GET /index.yaml OK"}}} {
		for name, s := range map[string]*Sources{"where it was planned": planner, "another name": other, "no name": stranger} {
			server.Requests()
			fresh := &Sources{Paths: s.Paths, UserAgent: "test"} // each is a run of its own
			got, err := fresh.digestNow(t.Context(), pin)
			if err != nil || got != now.digest {
				t.Errorf("%s: %s, %v; want %s", name, got, err, now.digest)
			}
			if asked := server.Asked(); s != stranger && !slices.Equal(asked, now.asked) {
				t.Errorf("%s: asked %q", name, asked)
			}
		}
		server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(republished)}))
	}
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.1", URL: "alpha-1.0.1.tgz"}))
	if _, err := (&Sources{Paths: planner.Paths}).digestNow(t.Context(), pin); err == nil || !strings.Contains(err.Error(), "1.0.0") {
		t.Errorf("the version has gone: %v", err)
	}
}

// What no index promises a digest for is read, but not kept.
func TestDigestNowWithoutAPromise(t *testing.T) {
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Put("/alpha.tgz", []byte("old"))
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha.tgz"}))
	add(t, s, "a", server, Access{})
	for _, ref := range []resolve.Reference{configured("a", "alpha", ""), {Kind: resolve.Remote, URL: server.URL + "/alpha.tgz"}} {
		server.Put("/alpha.tgz", []byte("old"))
		pin := pinnedTo(t, s, ref)
		if now, err := s.digestNow(t.Context(), pin); err != nil || pin.Moved(now) != "" {
			t.Errorf("%s, %v", now, err)
		}
		server.Put("/alpha.tgz", []byte("new"))
		if now, err := s.digestNow(t.Context(), pin); err != nil || now != Digest([]byte("new")) {
			t.Errorf("%s, %v", now, err)
		}
		if _, kept := s.At(Digest([]byte("new"))); kept {
			t.Error("it is in the cache")
		}
	}
}

// What the plan left out of a URL is not guessed.
func TestDigestNowWithheld(t *testing.T) {
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Put("/alpha.tgz", []byte("x"))
	pin := pinnedTo(t, s, resolve.Reference{Kind: resolve.Remote, URL: server.URL + "/alpha.tgz?token=secret"})
	server.Requests()
	if _, err := s.digestNow(t.Context(), pin); err == nil || !strings.Contains(err.Error(), "does not hold the query") || len(server.Requests()) != 0 {
		t.Errorf("%+v: %v", pin, err)
	}
}

// A registry is asked with one HEAD, and what --offline knows about the tag stays.
func TestDigestNowOfATag(t *testing.T) {
	server, image, manifest := fakeChart(t)
	s := ours(t)
	ref := resolve.Reference{Kind: resolve.Registry, Image: image}
	pin := pinnedTo(t, s, ref)
	*manifest = append(*manifest, '\n')
	server.Requests()
	if now, err := s.digestNow(t.Context(), pin); err != nil || now != Digest(*manifest) || pin.Moved(now) == "" {
		t.Errorf("%s, %v", now, err)
	}
	if q := server.Requests(); len(q) != 1 || q[0].Method != http.MethodHead {
		t.Errorf("%+v", q)
	}
	s.Offline = true
	if f, err := fetch(t, s, ref); err != nil || f.Manifest != pin.Digest {
		t.Errorf("%v, %v", f.Manifest, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := (&Sources{Paths: s.Paths}).digestNow(ended, pin); err == nil || len(server.Requests()) != 0 {
		t.Errorf("it asks after the end: %v", err)
	}
}

// A verified archive on this machine is checked again.
func TestMovedFile(t *testing.T) {
	s, file := ours(t), filepath.Join(t.TempDir(), "web.tgz")
	must(t, os.WriteFile(file, []byte("one"), 0o600))
	from := &plan.ChartSource{URL: file, Digest: Digest([]byte("one"))}
	if moved, err := s.Moved(t.Context(), from); moved != "" || err != nil {
		t.Errorf("%q, %v", moved, err)
	}
	must(t, os.WriteFile(file, []byte("two"), 0o600))
	if moved, err := s.Moved(t.Context(), from); !strings.Contains(moved, "is "+Digest([]byte("two"))+" now") || err != nil {
		t.Errorf("%q, %v", moved, err)
	}
	must(t, os.Remove(file))
	if moved, err := s.Moved(t.Context(), from); moved != "" || err == nil || !strings.Contains(err.Error(), "applied as it was planned") {
		t.Errorf("%q, %v", moved, err)
	}
}
