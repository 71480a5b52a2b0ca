package dependency

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// An archive that is in charts/ already is used only if it is signed as a rule demands, whether the
// rule names the repository, the chart, or the server or registry that the index says has the archive. If no
// rule can be for it, no server is asked.
func TestBuildObeysRules(t *testing.T) {
	alpha := sourcetest.Chart(t, "alpha", "1.0.0", "")
	registry, repository, archives := sourcetest.Serve(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{})
	registry.PutImage(t, "charts/alpha", "1.0.0", alpha)
	archives.Put("/alpha-1.0.0.tgz", alpha)
	repository.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: archives.URL + "/alpha-1.0.0.tgz", Digest: sourcetest.Digest(alpha)}))
	images := sourcetest.Serve(t, sourcetest.Options{})
	oci := "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/charts"
	images.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: oci + "/alpha:1.0.0", Digest: sourcetest.Digest(registry.File("/v2/charts/alpha/manifests/1.0.0"))}))
	for name, tc := range map[string]struct {
		repository, prefix string
		refused, quiet     bool
	}{
		"no rule, registry":            {repository: oci, quiet: true},
		"the registry":                 {oci, strings.TrimSuffix(oci, "/charts"), true, false},
		"the chart in a registry":      {oci, oci + "/alpha", true, false},
		"one version in a registry":    {oci, oci + "/alpha:1.0.0", true, false},
		"another chart in a registry":  {oci, oci + "/alphabet", false, true},
		"a repository, for a registry": {oci, repository.URL, false, true},
		"no rule, repository":          {repository: repository.URL, quiet: true},
		"the repository":               {repository.URL, repository.URL, true, false},
		"where the archive is":         {repository.URL, archives.URL + "/alpha-1.0.0.tgz", true, false},
		"another server":               {repository.URL, "https://charts.example.com", false, false},
		"a registry, for a repository": {repository.URL, oci, false, false},
		"where the image is":           {images.URL, oci + "/alpha", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			none := func(string) (string, bool) { return "", false }
			s := &source.Sources{Paths: source.FindPaths(none, "linux", t.TempDir()), UserAgent: "test"}
			folder := t.TempDir()
			write(t, filepath.Join(folder, "Chart.yaml"), "apiVersion: v2\nname: um\nversion: 1.0.0\ndependencies:\n- {name: alpha, version: 1.0.0, repository: \""+tc.repository+"\"}\n")
			if _, err := Update(t.Context(), folder, Options{Sources: s}); err != nil {
				t.Fatal(err)
			}
			s = &source.Sources{Paths: s.Paths, UserAgent: "test"}
			if tc.prefix != "" {
				_, key := sourcetest.CosignKey(t) // which has signed nothing
				s.Settings.Verify = []resolve.Rule{{Prefix: tc.prefix, Key: key}}
			}
			_ = append(append(registry.Requests(), repository.Requests()...), archives.Requests()...)
			_, err := Build(t.Context(), folder, Options{Sources: s})
			var unverified *source.UnverifiedError
			if errors.As(err, &unverified) != tc.refused || !tc.refused && err != nil {
				t.Errorf("got %v", err)
			}
			asked := slices.Concat(registry.Asked(), repository.Asked(), archives.Asked())
			if (len(asked) == 0) != tc.quiet {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// What several charts depend on is looked at once, and counts for each of them.
func TestCheckOfADiamond(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	s := &source.Sources{Paths: source.FindPaths(none, "linux", t.TempDir()), UserAgent: "test"}
	folder := t.TempDir()
	for name, needs := range map[string][]string{"u": {"a", "b"}, "a": {"c"}, "b": {"c"}, "c": {"d"}, "d": nil} {
		text := chartYAML(name, "1.0.0") + "dependencies:\n"
		for _, need := range needs {
			text += "- {name: " + need + ", version: '*', repository: \"file://../" + need + "\"}\n"
		}
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name, "Chart.yaml"), strings.TrimSuffix(text, "dependencies:\n"))
	}
	check := func() (changed []string) {
		out, err := Update(t.Context(), filepath.Join(folder, "u"), Options{Sources: s, Recursive: true, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			if o.Changed {
				changed = append(changed, filepath.Base(o.Chart))
			}
		}
		slices.Sort(changed)
		return changed
	}
	if got := check(); !slices.Equal(got, []string{"a", "b", "c", "u"}) {
		t.Errorf("nothing is there, and these are to change: %q", got)
	}
	if _, err := Update(t.Context(), filepath.Join(folder, "u"), Options{Sources: s, Recursive: true}); err != nil {
		t.Fatal(err)
	}
	if got := check(); len(got) > 0 {
		t.Errorf("all is there, and these are to change: %q", got)
	}
	write(t, filepath.Join(folder, "d", "values.yaml"), "new: true\n")
	if got := check(); !slices.Equal(got, []string{"a", "b", "c", "u"}) {
		t.Errorf("d has changed, and these are to change: %q", got)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
