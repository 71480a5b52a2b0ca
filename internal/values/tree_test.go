package values

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// parseTree builds a chart tree from files such as "root/Chart.yaml" and
// "root/charts/sub/values.yaml".
func parseTree(t *testing.T, dir string, a *txtar.Archive) *chart.Chart {
	t.Helper()
	c := &chart.Chart{Metadata: &chart.Metadata{Name: dir[strings.LastIndex(dir, "/")+1:], Version: "1.0.0"}}
	seen := map[string]bool{}
	for _, f := range a.Files {
		rest, ok := strings.CutPrefix(f.Name, dir+"/")
		switch {
		case !ok:
		case rest == "Chart.yaml":
			if err := yaml.Unmarshal(f.Data, c.Metadata); err != nil {
				t.Fatal(err)
			}
		case rest == "values.yaml":
			c.Values = parseTable(t, f.Data)
		case rest == "values.schema.json":
			c.Schema = f.Data
		default:
			name, _, _ := strings.Cut(strings.TrimPrefix(rest, "charts/"), "/")
			if !seen[name] {
				seen[name] = true
				c.AddDependency(parseTree(t, dir+"/charts/"+name, a))
			}
		}
	}
	return c
}

func parseTable(t *testing.T, data []byte) map[string]any {
	t.Helper()
	v, _, err := Parse(data, "test")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func find(t *testing.T, a *txtar.Archive, name string) []byte {
	t.Helper()
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// TestTrees runs testdata/trees: a chart tree and the user's values in; the
// subcharts that stay, the coalesced values, warnings or the error out. All
// results except warnings and errors' words were checked against Helm 4.3.1.
func TestTrees(t *testing.T) {
	for name, a := range archives(t, "testdata/trees/*.txtar") {
		t.Run(name, func(t *testing.T) {
			loaded := parseTree(t, "root", a)
			user := parseTable(t, find(t, a, "user.yaml"))
			before, userBefore := parseTree(t, "root", a), Clone(user)

			vals, charts, warned, err := process(loaded, user)
			if want := strings.TrimSpace(string(find(t, a, "error"))); want != "" || err != nil {
				if err == nil || want == "" || !strings.Contains(err.Error(), want) {
					t.Fatalf("error %v, want one with %q", err, want)
				}
				return
			}
			if want := find(t, a, "charts"); want != nil {
				if diff := cmp.Diff(strings.Fields(string(want)), charts); diff != "" {
					t.Errorf("charts (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(parseTable(t, find(t, a, "want.yaml")), vals); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			var warnings []string
			for _, w := range warned {
				warnings = append(warnings, w.String())
			}
			if diff := cmp.Diff(strings.TrimSpace(string(find(t, a, "warnings"))), strings.Join(warnings, "\n")); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			opt := cmpopts.IgnoreUnexported(chart.Chart{})
			if diff := cmp.Diff(flatten(before), flatten(loaded), opt) + cmp.Diff(userBefore, user); diff != "" {
				t.Errorf("the input was changed:\n%s", diff)
			}
		})
	}
}

// process is what the engine does: dependencies, then values.
func process(c *chart.Chart, user map[string]any) (vals map[string]any, charts []string, warned []chart.Warning, err error) {
	c, ignored, err := ProcessDependencies(c, user)
	if err != nil {
		return nil, nil, nil, err
	}
	top, conflicts, err := RenderValues(c, user, ReleaseInfo{}, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, c := range flatten(c) {
		charts = append(charts, c.FullPath())
	}
	return top["Values"].(map[string]any), charts, slices.Concat(ignored, conflicts), nil
}

func flatten(c *chart.Chart) []*chart.Chart {
	out := []*chart.Chart{c}
	for _, sub := range c.Dependencies() {
		out = append(out, flatten(sub)...)
	}
	return out
}
