package dependency

import (
	"cmp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// What an archive holds is compared with what its repository's index or its tag says, as far as they say
// anything, and a digest has not said which one it is: a leading v and the _ of tags make no difference.
func TestFetchComparesNameAndVersion(t *testing.T) {
	for why, tc := range map[string]struct {
		// version is what the index or the tag says, holds and is the archive's name and version.
		version, holds, is string
		warning            string
		registry, pinned   bool
	}{
		"the same":                    {version: "1.0.0", holds: "alpha", is: "1.0.0"},
		"with a v":                    {version: "v1.0.0", holds: "alpha", is: "1.0.0"},
		"an older version":            {"1.4.2", "alpha", "1.0.0", "it holds chart alpha 1.0.0, not alpha 1.4.2", false, false},
		"another build":               {"1.0.0+b", "alpha", "1.0.0+a", "it holds chart alpha 1.0.0+a, not alpha 1.0.0+b", false, false},
		"another chart":               {"1.0.0", "beta", "1.0.0", "it holds chart beta 1.0.0, not alpha 1.0.0", false, false},
		"a tag":                       {version: "1.0.0_b", holds: "alpha", is: "1.0.0+b", registry: true},
		"a tag with a v":              {version: "v1.0.0", holds: "alpha", is: "1.0.0", registry: true},
		"a tag that is not a version": {version: "latest", holds: "alpha", is: "1.0.0", registry: true},
		"an older version at a tag":   {"1.4.2", "alpha", "1.0.0", "it holds chart alpha 1.0.0, not alpha 1.4.2", true, false},
		"at a tag with a v":           {"v1.4.2", "alpha", "1.0.0", "it holds chart alpha 1.0.0, not alpha v1.4.2", true, false},
		"another chart at a tag":      {"latest", "beta", "1.0.0", "it holds chart beta 1.0.0, not alpha", true, false},
		"another chart at a digest":   {holds: "beta", is: "1.0.0", registry: true, pinned: true},
		"an older version at both":    {"1.4.2", "beta", "1.0.0", "it holds chart beta 1.0.0, not 1.4.2", true, true},
	} {
		t.Run(why, func(t *testing.T) {
			server := sourcetest.Serve(t, sourcetest.Options{})
			archive := sourcetest.Chart(t, tc.holds, tc.is, "")
			server.Put("/alpha.tgz", archive)
			server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: tc.version, URL: "alpha.tgz"}))
			ref := resolve.Reference{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"}
			if tc.registry {
				server.PutImage(t, "charts/alpha", cmp.Or(tc.version, "latest"), archive)
				ref = resolve.Reference{Kind: resolve.Registry, Image: resolve.Image{Host: strings.TrimPrefix(server.URL, "http://"), Path: "charts/alpha", Tag: cmp.Or(tc.version, "latest")}}
			}
			none := func(string) (string, bool) { return "", false }
			s := &source.Sources{Paths: source.FindPaths(none, "linux", t.TempDir()), UserAgent: "test"}
			found, err := s.Find(t.Context(), ref)
			if tc.pinned && err == nil {
				ref.Image.Tag, ref.Digest = tc.version, found.Manifest
				found, err = s.Find(t.Context(), ref)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, warnings, err := Fetch(t.Context(), s, found)
			said := ""
			for _, w := range warnings {
				said += w.What
			}
			if err != nil || said != tc.warning {
				t.Errorf("%q, %v, want %q", said, err, tc.warning)
			}
		})
	}
}
