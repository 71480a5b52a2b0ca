package values

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Templates find the four objects under the names that charts use.
func TestRenderValues(t *testing.T) {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1.0.0"}, Values: map[string]any{"a": 1.0}}
	rel := ReleaseInfo{Name: "r", Namespace: "ns", Revision: 3, IsUpgrade: true, Service: "Helm"}
	got, _, err := RenderValues(c, map[string]any{"b": 2.0}, rel, "capabilities")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"Chart":        c.Metadata.Fields(),
		"Capabilities": "capabilities",
		"Release": map[string]any{
			"Name": "r", "Namespace": "ns", "Revision": 3,
			"IsInstall": false, "IsUpgrade": true, "Service": "Helm",
		},
		"Values": map[string]any{"a": 1.0, "b": 2.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Dependencies that Chart.yaml names and charts/ lacks are reported, all of them at once.
func TestCheckDependencies(t *testing.T) {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Dependencies: []*chart.Dependency{
		{Name: "a"}, {Name: "b", Alias: "here"}, {Name: "here"}, {Name: "c"},
	}}}
	c.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: "here"}})
	err := CheckDependencies(c)
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"a", "b", "c"} {
		if !strings.Contains(err.Error(), "dependency "+name+" ") {
			t.Errorf("error does not name %s: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "dependency here ") {
		t.Errorf("error names a dependency that is there: %v", err)
	}
}

// Conditions and tags are looked up in the values of the whole release once for each chart with dependencies:
// how many values that may be in all is limited. Charts without dependencies do not count.
func TestSwitchedValuesAreLimited(t *testing.T) {
	values := map[string]any{"list": make([]any, maxSwitched/20)}
	tree := func(dependencies []*chart.Dependency) *chart.Chart {
		root := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Dependencies: []*chart.Dependency{}}, Values: values}
		for i := range 30 {
			sub := &chart.Chart{Metadata: &chart.Metadata{Name: fmt.Sprint("s", i), Dependencies: dependencies}}
			root.AddDependency(sub)
		}
		return root
	}
	if _, _, err := ProcessDependencies(tree([]*chart.Dependency{}), nil); err != nil {
		t.Errorf("empty lists of dependencies: %v", err)
	}
	if _, _, err := ProcessDependencies(tree([]*chart.Dependency{{Name: "x", Condition: "x.on"}}), nil); err == nil || !strings.Contains(err.Error(), "are looked up in more than 2097152 values in all") {
		t.Errorf("30 charts that are switched: %v", err)
	}
}
