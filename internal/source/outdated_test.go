package source

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// The place that the record names counts, whatever it is called here; without one, only
// a repository that has this very version; and no unknown server is asked.
func TestOffers(t *testing.T) {
	dir := t.TempDir()
	s := &Sources{Paths: Paths{RepositoryConfig: filepath.Join(dir, "repositories.yaml"), RepositoryCache: dir, ContentCache: dir}}
	registry, image := fake(t, func(http.ResponseWriter, *http.Request, int) bool { return false })
	registry.Put("/v2/charts/alpha/tags/list", []byte(`{"name":"charts/alpha","tags":["1.0.0","1.4.0","2.0.0-rc.1","latest"]}`))
	must(t, os.WriteFile(s.Paths.RepositoryConfig, []byte("repositories:\n- {name: one, url: 'https://u:p@one/'}\n- {name: two, url: https://two}\n- {name: broken, url: https://broken}\n"), 0o600))
	entry := func(name, version string) sourcetest.Entry {
		return sourcetest.Entry{Name: name, Version: version, URL: "x.tgz"}
	}
	must(t, os.WriteFile(filepath.Join(dir, "one-index.yaml"), sourcetest.Index(entry("web", "1.0.0"), entry("web", "1.1.0"), entry("web", "2.0.0-rc.1"), entry("db", "5.0.0")), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "two-index.yaml"), sourcetest.Index(entry("web", "1.0.0"), entry("web", "1.2.0"), entry("db", "6.0.0")), 0o600))
	fromRegistry := &plan.ChartSource{URL: image.String()}
	for name, tc := range map[string]struct {
		chart          Installed
		devel          bool
		version, place string
		guessed        bool
		registry       string
	}{
		"by its record":                 {Installed{"web", "1.0.0", &plan.ChartSource{URL: "https://one/x.tgz", Repository: "https://one"}}, false, "1.1.0", "one/web", false, ""},
		"with prereleases":              {Installed{"web", "1.0.0", &plan.ChartSource{URL: "https://one/x.tgz", Repository: "https://one/"}}, true, "2.0.0-rc.1", "one/web", false, ""},
		"the newest is used":            {Installed{"web", "1.2.0", &plan.ChartSource{URL: "https://two/x.tgz", Repository: "https://two"}}, false, "", "two/web", false, ""},
		"by its name, the newest":       {Installed{"web", "1.0.0", nil}, false, "1.2.0", "two/web", true, ""},
		"by its name, newest already":   {Installed{"db", "6.0.0", nil}, false, "", "two/db", true, ""},
		"by its name, another version":  {Installed{"db", "4.0.0", nil}, false, "", "", false, "none"},
		"an archive's URL":              {Installed{"web", "1.1.0", &plan.ChartSource{URL: "https://x/web.tgz"}}, false, "", "one/web", true, ""},
		"a repository nobody knows":     {Installed{"web", "1.0.0", &plan.ChartSource{URL: "https://x/web.tgz", Repository: "https://x"}}, false, "", "", false, "none"},
		"a repository without an index": {Installed{"web", "1.0.0", &plan.ChartSource{URL: "https://broken/web.tgz", Repository: "https://broken"}}, false, "", "", false, ""},
		"a registry nobody knows":       {Installed{"alpha", "1.0.0", fromRegistry}, false, "", "", false, image.Host},
	} {
		got, err := s.Offers(t.Context(), []Installed{tc.chart}, tc.devel)
		must(t, err)
		o := got[0]
		if o.Version != tc.version || o.Place != tc.place || o.Guessed != tc.guessed {
			t.Errorf("%s: %+v", name, o)
		}
		unknown, is := errors.AsType[*NotKnownError](o.Err)
		if is != (tc.registry != "") || is && tc.registry != "none" && unknown.Registry != tc.registry || (o.Err == nil) != (tc.place != "") {
			t.Errorf("%s: %v", name, o.Err)
		}
	}
	if asked := registry.Asked(); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
	s.Settings = resolve.Settings{Registries: []string{image.Host}}
	got, err := s.Offers(t.Context(), []Installed{{"alpha", "1.0.0", fromRegistry}}, false)
	must(t, err)
	if o := got[0]; o.Version != "1.4.0" || o.Err != nil || o.Chart.Image.Tag != "1.4.0" {
		t.Errorf("%+v", o)
	}
}
