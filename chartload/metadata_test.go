package chartload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Chart.yaml, requirements and locks that Helm 4.3.1 refuses, and hostile ones,
// are refused with an error that names the file.
func TestMetadataRefused(t *testing.T) {
	for _, tc := range []struct {
		why   string
		files map[string]string
		want  string
	}{
		{"missing", map[string]string{"values.yaml": ""}, "Chart.yaml is missing"},
		{"empty", map[string]string{"Chart.yaml": ""}, "Chart.yaml: name is required"},
		{"null", map[string]string{"Chart.yaml": "null\n"}, "Chart.yaml: name is required"},
		{"a list", map[string]string{"Chart.yaml": "- a\n"}, "Chart.yaml: "},
		{"no YAML", map[string]string{"Chart.yaml": "a: b: c"}, "Chart.yaml: "},
		{"an unknown apiVersion", map[string]string{"Chart.yaml": "apiVersion: v9\nname: a\nversion: 1.0.0\n"}, `apiVersion "v9" is not supported`},
		{"dot as a name", map[string]string{"Chart.yaml": "name: ..\nversion: 1.0.0\n"}, "single path element"},
		{"a path as a name", map[string]string{"Chart.yaml": "name: a/b\nversion: 1.0.0\n"}, "single path element"},
		{"a version that is none", map[string]string{"Chart.yaml": "name: a\nversion: x\n"}, `version "x" is not a semantic version`},
		{"a type that is none", map[string]string{"Chart.yaml": "name: a\nversion: 1.0.0\ntype: x\n"}, "type must be"},
		{"a null dependency", map[string]string{"Chart.yaml": "name: a\nversion: 1.0.0\ndependencies: [null]\n"}, "dependencies must not contain an empty entry"},
		{"a null maintainer", map[string]string{"Chart.yaml": "name: a\nversion: 1.0.0\nmaintainers: [null]\n"}, "maintainers must not contain an empty entry"},
		{"two dependencies of one name", map[string]string{"Chart.yaml": "name: a\nversion: 1.0.0\ndependencies: [{name: x}, {name: y, alias: x}]\n"}, `named or aliased "x"`},
		{"an alias with a path", map[string]string{"Chart.yaml": "name: a\nversion: 1.0.0\ndependencies: [{name: x, alias: ../x}]\n"}, "alias"},
		{"a dependency that is text", map[string]string{"Chart.yaml": "name: a\nversion: 1.0.0\ndependencies: [x]\n"}, "Chart.yaml: "},
		{"aliases that grow", map[string]string{"Chart.yaml": `a: &a "` + strings.Repeat("x", 1<<20) + "\"\nb: [" + strings.Repeat("*a,", 100) + "]\n"}, "grows beyond"},
		{"nesting", map[string]string{"Chart.yaml": "a: " + strings.Repeat("[", 3000) + strings.Repeat("]", 3000)}, "deeper than"},
		{"values that are a list", map[string]string{"Chart.yaml": chartYAML, "values.yaml": "- a\n"}, "values.yaml: "},
		{"a lock that is none", map[string]string{"Chart.yaml": chartYAML, "Chart.lock": "- a\n"}, "Chart.lock: "},
		{"requirements that are none", map[string]string{"Chart.yaml": chartYAML, "requirements.yaml": "- a\n"}, "requirements.yaml: "},
		{"a subchart's Chart.yaml", map[string]string{"Chart.yaml": chartYAML, "charts/x/Chart.yaml": "name: x\n"}, "subchart charts/x: Chart.yaml: version is required"},
		{"dense YAML in many subcharts", dense(), "has more than 400000 entries"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, _, err := Load(tree(t, tc.files), Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), ".yaml") && !strings.Contains(err.Error(), "Chart.lock") {
				t.Errorf("error %v, want one with a file's name and %q", err, tc.want)
			}
		})
	}
}

func dense() map[string]string {
	values := "a: [" + strings.Repeat("a,", 150_000) + "]"
	return map[string]string{
		"Chart.yaml":           chartYAML,
		"charts/a/Chart.yaml":  chartYAML,
		"charts/a/values.yaml": values,
		"charts/b/Chart.yaml":  chartYAML,
		"charts/b/values.yaml": values,
		"charts/c/Chart.yaml":  chartYAML,
		"charts/c/values.yaml": values,
	}
}

// A Helm 2 chart: no apiVersion, dependencies and lock in separate files,
// which stay among the files; text is cleaned.
func TestLoadV1(t *testing.T) {
	c, _, err := Load(tree(t, map[string]string{
		"Chart.yaml":        "name: old\nversion: 1.0.0\ndescription: \"a\\e[31m\\tb\"\nappVersion: 7\n",
		"requirements.yaml": "dependencies:\n- {name: x, version: 1.x, repository: \"@r\"}\n",
		"requirements.lock": "digest: abc\n",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &chart.Metadata{
		APIVersion: "v1", Name: "old", Version: "1.0.0", Description: "a[31m b", AppVersion: "7",
		Dependencies: []*chart.Dependency{{Name: "x", Version: "1.x", Repository: "@r"}},
	}
	if diff := cmp.Diff(want, c.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if c.Lock == nil || c.Lock.Digest != "abc" {
		t.Errorf("lock: %v", c.Lock)
	}
	if diff := cmp.Diff([]string{"requirements.lock", "requirements.yaml"}, names(c.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Oddities that stop nobody become warnings that name the chart and the file.
func TestWarnings(t *testing.T) {
	_, warnings, err := Load(tree(t, map[string]string{
		"Chart.yaml":           chartYAML + "name: web\n",
		"requirements.yaml":    "dependencies: []\n",
		"charts/x/Chart.yaml":  chartYAML,
		"charts/x/values.yaml": "a: 1\na: 2\n",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	want := []string{
		`web/Chart.yaml: line 4: key "name" is given twice; the last one counts`,
		"web/requirements.yaml: since apiVersion v2 dependencies belong in Chart.yaml",
		`web/charts/x/values.yaml: line 2: key "a" is given twice; the last one counts`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
