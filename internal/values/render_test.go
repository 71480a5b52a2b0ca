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

// Conditions and tags are looked up once for each chart with dependencies, in its own values, the tags and
// the globals: how many values that may be in all is limited. Charts without dependencies do not count.
func TestSwitchedValuesAreLimited(t *testing.T) {
	many := map[string]any{"list": make([]any, maxSwitched/20)}
	tree := func(values map[string]any, dependencies []*chart.Dependency) *chart.Chart {
		root := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Dependencies: []*chart.Dependency{}}, Values: values}
		for i := range 30 {
			sub := &chart.Chart{Metadata: &chart.Metadata{Name: fmt.Sprint("s", i), Dependencies: dependencies}}
			root.AddDependency(sub)
		}
		return root
	}
	globals, switched := map[string]any{"global": many}, []*chart.Dependency{{Name: "x", Condition: "x.on"}}
	if _, _, err := ProcessDependencies(tree(globals, []*chart.Dependency{}), nil); err != nil {
		t.Errorf("empty lists of dependencies: %v", err)
	}
	if _, _, err := ProcessDependencies(tree(globals, switched), nil); err == nil || !strings.Contains(err.Error(), "are looked up in more than 2097152 values in all") {
		t.Errorf("30 charts that are switched: %v", err)
	}
	if _, _, err := ProcessDependencies(tree(many, switched), nil); err != nil {
		t.Errorf("values of the root alone: %v", err)
	}
}

// An umbrella chart with many subcharts that have dependencies and values of their own is not refused, at
// the root or further down, and what its own values and those of its subcharts switch is switched.
func TestUmbrellaIsSwitched(t *testing.T) {
	umbrella := &chart.Chart{Metadata: &chart.Metadata{Name: "umbrella", Dependencies: []*chart.Dependency{}}, Values: map[string]any{"tags": map[string]any{"third": false}}}
	for i := range 150 {
		values := map[string]any{"list": make([]any, 200), "first": map[string]any{"on": i%2 == 0}}
		sub := &chart.Chart{Metadata: &chart.Metadata{Name: fmt.Sprint("s", i), Dependencies: []*chart.Dependency{
			{Name: "first", Version: "1", Condition: "first.on"},
			{Name: "second", Version: "1", Condition: "second.on"},
			{Name: "third", Version: "1", Tags: []string{"third"}},
		}}, Values: values}
		for _, name := range []string{"first", "second", "third"} {
			sub.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: name, Version: "1.0.0"}})
		}
		umbrella.AddDependency(sub)
	}
	root := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Dependencies: []*chart.Dependency{}}, Values: map[string]any{
		"tags":     map[string]any{"third": true},
		"umbrella": map[string]any{"s1": map[string]any{"second": map[string]any{"on": false}}},
	}}
	root.AddDependency(umbrella)
	alone, _, err := ProcessDependencies(umbrella, nil)
	if err != nil {
		t.Fatal(err)
	}
	below, _, err := ProcessDependencies(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, sub := range map[string]*chart.Chart{
		"[first second]":       alone.Dependencies()[0],
		"[second]":             alone.Dependencies()[1],
		"[first second third]": below.Dependencies()[0].Dependencies()[0],
		"[third]":              below.Dependencies()[0].Dependencies()[1],
	} {
		var names []string
		for _, s := range sub.Dependencies() {
			names = append(names, s.Name())
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%s has %s, want %s", sub.FullPath(), got, want)
		}
	}
}
