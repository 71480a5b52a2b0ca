package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// What an upgrade renders with, by flag. The results are Helm 4.3.1's.
func TestReuse(t *testing.T) {
	type table = map[string]any
	old := Previous{
		Chart:  &chart.Chart{Metadata: &chart.Metadata{Name: "c"}, Values: table{"def": "old", "gone": "old"}},
		Config: table{"a": "old", "b": "old"},
	}
	for _, tc := range []struct {
		why         string
		mode        Reuse
		user        table
		want, final table
	}{
		{"no new values: the old ones", ReuseUnlessGiven, table{}, table{"a": "old", "b": "old"}, table{"a": "old", "b": "old", "def": "new"}},
		{"new values: only those", ReuseUnlessGiven, table{"a": "new"}, table{"a": "new"}, table{"a": "new", "def": "new"}},
		{"reset: never the old ones", ResetValues, table{}, table{}, table{"def": "new"}},
		{
			"reuse: old defaults too, and a null takes an old value away", ReuseValues,
			table{"a": "new", "b": nil},
			table{"a": "new"},
			table{"a": "new", "b": "old", "def": "old", "gone": "old"},
		},
		{"reset then reuse: new defaults", ResetThenReuseValues, table{"a": "new", "b": nil}, table{"a": "new"}, table{"a": "new", "def": "new"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			next := &chart.Chart{Metadata: &chart.Metadata{Name: "c"}, Values: table{"def": "new"}}
			userBefore := Clone(tc.user)
			c, user, err := tc.mode.Apply(old, next, tc.user)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, user); diff != "" {
				t.Errorf("user values (-want +got):\n%s", diff)
			}
			final, err := Coalesce(c, user)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.final, final); diff != "" {
				t.Errorf("coalesced (-want +got):\n%s", diff)
			}
			changed := cmp.Diff(userBefore, tc.user) + cmp.Diff(table{"def": "new"}, next.Values) +
				cmp.Diff(table{"a": "old", "b": "old"}, old.Config) + cmp.Diff(table{"def": "old", "gone": "old"}, old.Chart.Values)
			if changed != "" {
				t.Errorf("the input was changed:\n%s", changed)
			}
		})
	}
}
