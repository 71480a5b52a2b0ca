package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A reviewer is told which defaults of the chart have changed, and only of those that
// can have an effect.
func TestChangedDefaultsAreTold(t *testing.T) {
	type table = map[string]any
	revision := func(defaults, user table) *release.Revision {
		return &release.Revision{
			Version: 1, Info: release.Info{Status: release.StatusDeployed},
			Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1"}, Values: defaults}, Config: user,
		}
	}
	told := func(path string, from, to any) plan.Change {
		return plan.Change{Path: path, From: from, To: to, Cause: plan.CauseChart}
	}
	for name, c := range map[string]struct {
		before, after, user table
		want                []plan.Change
	}{
		"another default":       {table{"create": false}, table{"create": true}, nil, []plan.Change{told("create", false, true)}},
		"one that is off now":   {table{"create": true}, table{"create": false}, nil, []plan.Change{told("create", true, false)}},
		"what the user has set": {table{"size": "1Gi"}, table{"size": "2Gi"}, table{"size": "3Gi"}, nil},
		"others before new ones": {
			table{"b": "x"},
			table{"a": true, "b": "y", "c": "", "d": table{}},
			nil,
			[]plan.Change{told("b", "x", "y"), told("a", nil, true)},
		},
		"what is gone": {table{"a": "x"}, table{}, nil, nil},
		"what is switched off": {
			table{"metrics": table{"enabled": false, "port": "1"}}, table{"metrics": table{"enabled": false, "port": "2"}}, nil, nil,
		},
		"what the user switches on": {
			table{"metrics": table{"enabled": false, "port": "1"}},
			table{"metrics": table{"enabled": false, "port": "2"}},
			table{"metrics": table{"enabled": true}},
			[]plan.Change{told("metrics.port", "1", "2")},
		},
		"a switch of a table": {
			table{"policy": table{"enabled": true}},
			table{"policy": table{"enabled": false}},
			nil,
			[]plan.Change{told("policy.enabled", true, false)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := valuesChanges(release.History{revision(c.before, c.user)}, revision(c.after, c.user))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A value that is now set to the chart's default, or no longer is, has not changed,
// whichever way the two were read, from YAML, JSON or --set.
func TestValuesThatAreTheDefaultHaveNotChanged(t *testing.T) {
	revision := func(user map[string]any) *release.Revision {
		return &release.Revision{
			Version: 1, Info: release.Info{Status: release.StatusDeployed},
			Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1"}, Values: map[string]any{"replicas": 2.0}}, Config: user,
		}
	}
	set, unset := revision(map[string]any{"replicas": int64(2)}), revision(nil)
	for _, c := range [][2]*release.Revision{{set, unset}, {unset, set}} {
		if got := userChanges(release.History{c[0]}, c[1]); len(got) > 0 {
			t.Errorf("%v", got)
		}
	}
}

// Of the user's values those in effect are compared, also in lists and below keys with dots.
func TestValuesInEffectAreCompared(t *testing.T) {
	type table = map[string]any
	item := func(name string) table { return table{"name": name, "v": "1"} }
	defaults := table{"list": []any{item("a"), item("b")}, "annotations": table{"a.b/c": "true"}, "a.b": "1", "size": "1Gi"}
	for name, c := range map[string]struct {
		before, after table
		want          []string
	}{
		"the default list again":             {nil, table{"list": []any{item("a"), item("b")}}, nil},
		"a list without a default's item":    {nil, table{"list": []any{item("a")}}, []string{"list[b] removed"}},
		"another list":                       {nil, table{"list": []any{item("c")}}, []string{"list[a] removed", "list[b] removed", "list[c] added"}},
		"the default list instead":           {table{"list": []any{item("c")}}, nil, []string{"list[c] removed", "list[a] added", "list[b] added"}},
		"a default for a key with a dot":     {table{"annotations": table{"a.b/c": "false"}}, nil, []string{"annotations[a.b/c] changed"}},
		"a key with a dot at the top":        {nil, table{"a.b": "2"}, []string{"[a.b] changed"}},
		"an empty table without a default":   {nil, table{"resources": table{}}, []string{"resources added"}},
		"a text, which was a table":          {table{"a": table{"b": "1"}}, table{"a": "x"}, []string{"a changed"}},
		"what is set otherwise, and is not":  {table{"size": "2Gi"}, table{"size": "1Gi", "more": "x"}, []string{"more added", "size changed"}},
		"a null, which removes a default":    {nil, table{"size": nil}, []string{"size removed"}},
		"a null no more":                     {table{"size": nil}, nil, []string{"size added"}},
		"a null for what is not there":       {nil, table{"more": nil}, nil},
		"an empty list instead of a default": {nil, table{"list": []any{}}, []string{"list[a] removed", "list[b] removed"}},
	} {
		t.Run(name, func(t *testing.T) {
			revision := func(user table) *release.Revision {
				return &release.Revision{
					Version: 1, Info: release.Info{Status: release.StatusDeployed},
					Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1"}, Values: defaults}, Config: user,
				}
			}
			var got []string
			for _, c := range valuesChanges(release.History{revision(c.before)}, revision(c.after)) {
				what := " changed"
				switch {
				case c.From == nil:
					what = " added"
				case c.To == nil:
					what = " removed"
				}
				got = append(got, c.Path+what)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A chart is not a change of itself: its record has no subcharts, and the one that is to be recorded
// has, whether Chart.yaml declares them or not, and whatever the parent's defaults say about them.
func TestDefaultsOfSubchartsHaveNotChanged(t *testing.T) {
	for name, c := range map[string]struct {
		declared []*chart.Dependency
		defaults map[string]any
	}{
		"a null for a subchart's value": {[]*chart.Dependency{{Name: "db", Version: "1.0.0"}}, map[string]any{"db": map[string]any{"size": nil}}},
		"no word about the subchart":    {[]*chart.Dependency{{Name: "db", Version: "1.0.0"}}, nil},
		"an undeclared subchart":        {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			web := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1.0.0", Dependencies: c.declared}, Values: c.defaults}
			web.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: "db", Version: "1.0.0"}, Values: map[string]any{"size": "1Gi"}})
			rendered, _, err := values.ProcessDependencies(web, nil)
			if err != nil {
				t.Fatal(err)
			}
			stored := *rendered
			stored.SetDependencies()
			revision := func(c *chart.Chart) *release.Revision {
				return &release.Revision{Version: 1, Info: release.Info{Status: release.StatusDeployed}, Chart: c}
			}
			if got := valuesChanges(release.History{revision(&stored)}, revision(rendered)); len(got) > 0 {
				t.Errorf("%v", got)
			}
		})
	}
}
