package helmfile

import (
	"strings"
	"testing"
	"testing/fstest"
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
