package dependency

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// What an archive holds is compared with what its repository's index or its tag says, as far as they say
// anything: a leading v and the _ of tags make no difference.
func TestFetchComparesNameAndVersion(t *testing.T) {
	for why, tc := range map[string]struct {
		// version is what the index or the tag says, holds and is the archive's name and version.
		version, holds, is string
		warning            string
		registry           bool
	}{
		"the same":                    {version: "1.0.0", holds: "alpha", is: "1.0.0"},
		"with a v":                    {version: "v1.0.0", holds: "alpha", is: "1.0.0"},
		"an older version":            {"1.4.2", "alpha", "1.0.0", "it holds chart alpha 1.0.0, not alpha 1.4.2", false},
		"another build":               {"1.0.0+b", "alpha", "1.0.0+a", "it holds chart alpha 1.0.0+a, not alpha 1.0.0+b", false},
		"another chart":               {"1.0.0", "beta", "1.0.0", "it holds chart beta 1.0.0, not alpha 1.0.0", false},
		"a tag":                       {version: "1.0.0_b", holds: "alpha", is: "1.0.0+b", registry: true},
		"a tag with a v":              {version: "v1.0.0", holds: "alpha", is: "1.0.0", registry: true},
		"a tag that is not a version": {version: "latest", holds: "alpha", is: "1.0.0", registry: true},
		"an older version at a tag":   {"1.4.2", "alpha", "1.0.0", "it holds chart alpha 1.0.0, not alpha 1.4.2", true},
		"at a tag with a v":           {"v1.4.2", "alpha", "1.0.0", "it holds chart alpha 1.0.0, not alpha v1.4.2", true},
		"another chart at a tag":      {"latest", "beta", "1.0.0", "it holds chart beta 1.0.0, not alpha", true},
	} {
		t.Run(why, func(t *testing.T) {
			server := sourcetest.Serve(t, sourcetest.Options{})
			archive := sourcetest.Chart(t, tc.holds, tc.is, "")
			server.Put("/alpha.tgz", archive)
			server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: tc.version, URL: "alpha.tgz"}))
			ref := resolve.Reference{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"}
			if tc.registry {
				server.PutImage(t, "charts/alpha", tc.version, archive)
				ref = resolve.Reference{Kind: resolve.Registry, Image: resolve.Image{Host: strings.TrimPrefix(server.URL, "http://"), Path: "charts/alpha", Tag: tc.version}}
			}
			none := func(string) (string, bool) { return "", false }
			s := &source.Sources{Paths: source.FindPaths(none, "linux", t.TempDir()), UserAgent: "test"}
			found, err := s.Find(t.Context(), ref)
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
