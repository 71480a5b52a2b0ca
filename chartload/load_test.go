package chartload

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// tree writes files (name to content) into a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "web")
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(files []*chart.File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

// A folder is sorted into templates, files, values and subcharts.
func TestLoadFolder(t *testing.T) {
	dir := tree(t, map[string]string{
		"Chart.yaml":                   "\xEF\xBB\xBFapiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: 1.10\n",
		"values.yaml":                  "replicas: 1\n",
		"values.schema.json":           "{}",
		"templates/_h.tpl":             "x",
		"templates/d.yaml":             "y",
		"templates/.hidden":            "z",
		"crds/a.yaml":                  "crd",
		"README.md":                    "hi",
		"secret.txt":                   "left out",
		".helmignore":                  "secret.txt\n",
		"charts/redis/Chart.yaml":      "apiVersion: v2\nname: redis\nversion: 1.0.0\n",
		"charts/redis/templates/a.yml": "a",
		"charts/_off/x":                "not a chart",
		"charts/redis.prov":            "signature",
	})
	c, warnings, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"templates/_h.tpl", "templates/d.yaml"}, names(c.Templates)); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{".helmignore", "README.md", "charts/redis.prov", "crds/a.yaml"}, names(c.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"replicas": 1.0}, c.Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if len(c.Dependencies()) != 1 || c.Dependencies()[0].FullPath() != "web/charts/redis" {
		t.Errorf("subcharts: %v", c.Dependencies())
	}
	// A number becomes text the way Helm's YAML reader writes it.
	if c.Metadata.AppVersion != "1.1" {
		t.Errorf("appVersion: %q", c.Metadata.AppVersion)
	}
	if len(warnings) != 0 {
		t.Errorf("warnings: %v", warnings)
	}
}
