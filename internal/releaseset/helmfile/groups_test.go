package helmfile

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// A file that is no helmfile is told from one with something that is not supported: helmfile could not read it, either.
func TestOtherFilesAreNoHelmfiles(t *testing.T) {
	const none, refused = "set.yaml:1: this is no helmfile, and a releases.yaml begins with version: 1", "resolve it in a trusted job: helmfile build"
	for text, want := range map[string]string{
		"defaults: {namespace: shop}\nreleases: []": none,
		"clusters: {a: {context: b}}\nreleases: []": none,
		"helmCharts: [{name: web}]":                 none,
		"replicas: 1":                               none,
		"[a, b]":                                    none,
		"hooks: [{name: a}]":                        refused,
		"releases: []\nhooks: [{name: a}]":          refused,
		"releases: []":                              "",
		"{}\n---\nreleases: []":                     "",
		"helmBinary: helm\n---\nreleases: []":       "",
	} {
		_, err := Read(fstest.MapFS{"set.yaml": {Data: []byte(text)}}, "set.yaml", Options{})
		if got := ""; err != nil {
			if got = err.Error(); want == "" || !strings.Contains(got, want) || want == none && got != none {
				t.Errorf("%q: %s", text, got)
			}
		} else if want != "" {
			t.Errorf("%q: no error", text)
		}
	}
}

// A chart in a nested path of a repository is no folder, unless there is one.
func TestChartsInNestedPathsOfRepositories(t *testing.T) {
	const text = `repositories: [{name: reg, url: ghcr.io/org, oci: true}, {name: web, url: "https://charts.example.com"}]
releases: [{name: a, chart: reg/sub/a, version: 1.0.0}, {name: b, chart: web/sub/b}, {name: c, chart: reg/charts/c}, {name: d, chart: other/sub/d}, {name: e, chart: web}]
`
	set, err := Read(fstest.MapFS{"set.yaml": {Data: []byte(text)}, "reg/charts/c/Chart.yaml": {}}, "set.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []releaseset.Chart{
		{Name: "oci://ghcr.io/org/sub/a", Version: "1.0.0"}, {Name: "sub/b", Repo: "https://charts.example.com"}, {Path: "reg/charts/c"}, {Path: "other/sub/d"}, {Path: "web"},
	} {
		if got := set.Entries[i].Chart; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
