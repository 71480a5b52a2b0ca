package cluster_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"
)

// kubectls returns a discovery client like kubectl's, with the same cache directory as ours.
func (s *server) kubectls(t *testing.T) *disk.CachedDiscoveryClient {
	t.Helper()
	host := regexp.MustCompile(`[^(\w/.)]`).ReplaceAllString(strings.TrimPrefix(s.URL, "http://"), "_")
	c, err := disk.NewCachedDiscoveryClientForConfig(&rest.Config{Host: s.URL},
		filepath.Join(s.cache, "discovery", host), filepath.Join(s.cache, "http"), 6*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Our cache saves kubectl its discovery.
func TestKubectlReadsOurCache(t *testing.T) {
	s := newServer(t)
	s.aggregate()
	if _, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{deployment}); err != nil {
		t.Fatal(err)
	}
	before := s.discovery()
	list, err := s.kubectls(t).ServerResourcesForGroupVersion("apps/v1")
	if err != nil {
		t.Fatal(err)
	}
	groups, err := s.kubectls(t).ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	if len(groups.Groups) != 3 || list.APIResources[0].Kind != "Deployment" {
		t.Errorf("kubectl reads the groups %v and the resources %v", groups.Groups, list.APIResources)
	}
	if asked := s.discovery() - before; asked != 0 {
		t.Errorf("kubectl asked %d times more", asked)
	}
}

// kubectl's cache saves us discovery.
func TestWeReadKubectlsCache(t *testing.T) {
	s := newServer(t)
	s.aggregate()
	if _, _, err := s.kubectls(t).ServerGroupsAndResources(); err != nil {
		t.Fatal(err)
	}
	before := s.discovery()
	kinds, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{deployment})
	if err != nil {
		t.Fatal(err)
	}
	if k := kinds[deployment.GroupKind()]; len(k.Versions) != 1 {
		t.Errorf("Deployment is %+v", k)
	}
	if asked := s.discovery() - before; asked != 0 {
		t.Errorf("we asked %d times more", asked)
	}
}

// An unchanged answer is not sent twice, but always asked for, even if it allows to be kept.
func TestDiscoveryIsConditional(t *testing.T) {
	for _, control := range []string{"public", "public, max-age=3600"} {
		s := newServer(t)
		saved := s.tagged(control)
		for range 2 {
			facts, err := s.connect(t).Facts(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(facts.APIVersions) < 4 {
				t.Errorf("API versions %v", facts.APIVersions)
			}
		}
		if saved.Load() != 2 {
			t.Errorf("%s: %d answers were spared, want both roots of the second run", control, saved.Load())
		}
	}
}

// Nor is one that was sent to a kubectl of our client-go's version.
func TestAnswersToKubectlAreOurs(t *testing.T) {
	s := newServer(t)
	saved := s.tagged("public")
	if _, _, err := s.kubectls(t).ServerGroupsAndResources(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.connect(t).Facts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if saved.Load() != 2 {
		t.Errorf("%d answers were spared, want both roots", saved.Load())
	}
}

// tagged makes both roots of the API answer Not Modified to conditional requests, with these
// directives for caches, and counts how often they do.
func (s *server) tagged(control string) *atomic.Int32 {
	s.aggregate()
	s.reply("GET /version", map[string]any{"gitVersion": "v1.36.3"})
	var saved atomic.Int32
	tag := `"1"`
	for _, path := range []string{"GET /api", "GET /apis"} {
		whole := s.answers[path]
		s.answers[path] = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", tag)
			w.Header().Set("Cache-Control", control)
			w.Header().Set("Vary", "Accept")
			if r.Header.Get("If-None-Match") == tag {
				saved.Add(1)
				w.WriteHeader(http.StatusNotModified)
				return
			}
			whole(w, r)
		}
	}
	return &saved
}

// A cache that is too old, broken or not writable is not a reason to fail.
func TestCacheThatIsOfNoUse(t *testing.T) {
	kinds := []schema.GroupVersionKind{deployment}
	for name, spoil := range map[string]func(t *testing.T, file string){
		"too old": func(t *testing.T, file string) {
			old := time.Now().Add(-7 * time.Hour)
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		},
		"cut off": func(t *testing.T, file string) {
			if err := os.Truncate(file, 10); err != nil {
				t.Fatal(err)
			}
		},
		"a folder in its place": func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(file, "in the way"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.aggregate()
			if _, err := s.connect(t).Kinds(t.Context(), kinds); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(s.cache, "discovery", "*", "servergroups.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("cache files %v, error %v", files, err)
			}
			spoil(t, files[0])
			before := s.discovery()
			got, err := s.connect(t).Kinds(t.Context(), kinds)
			if err != nil || len(got[deployment.GroupKind()].Versions) != 1 {
				t.Errorf("kinds %v, error %v", got, err)
			}
			if asked := s.discovery() - before; asked != 2 {
				t.Errorf("%d requests, want discovery's two", asked)
			}
		})
	}
}

// A caller that gives up before the answer arrives ends the request only if nobody else
// is waiting for it.
func TestDiscoveryIsSharedByThoseWhoWait(t *testing.T) {
	s := newServer(t)
	s.aggregate()
	asked, goOn := make(chan struct{}), make(chan struct{})
	whole := s.answers["GET /apis"]
	s.answers["GET /apis"] = func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		select {
		case <-goOn:
			whole(w, r)
		case <-r.Context().Done():
		}
	}
	c := s.connect(t)
	patient := make(chan error)
	go func() {
		_, err := c.Kinds(t.Context(), []schema.GroupVersionKind{deployment})
		patient <- err
	}()
	<-asked
	if _, err := c.Kinds(expired(t), []schema.GroupVersionKind{deployment}); err == nil {
		t.Error("no error for the one who can't wait")
	}
	close(goOn)
	if err := <-patient; err != nil {
		t.Errorf("the one who waits: %v", err)
	}
	if n := s.discovery(); n != 2 {
		t.Errorf("%d requests, want two for both", n)
	}
}

// Without a home directory nothing is cached, least of all where others can write: files
// that they put there are not trusted, and nothing is written there.
func TestNoCacheWithoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("KUBECACHEDIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	s := newServer(t)
	s.aggregate()
	s.cache = ""
	for range 2 {
		before := s.discovery()
		if _, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{deployment}); err != nil {
			t.Fatal(err)
		}
		if s.discovery() == before {
			t.Error("nothing was asked of the server")
		}
	}
	for _, dir := range []string{os.TempDir(), "."} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", dir, left, err)
		}
	}
}
