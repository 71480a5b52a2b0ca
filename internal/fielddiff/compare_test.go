package fielddiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// TestDiff runs testdata/diff: "before" and "after" in, one change per line out.
func TestDiff(t *testing.T) {
	objecttest.Cases(t, "testdata/diff/*.txtar", 1, func(t *testing.T, _ string, archive *txtar.Archive) {
		docs := objecttest.Sections(archive)
		var got strings.Builder
		for _, c := range Compare(content(t, docs["before"]), content(t, docs["after"])) {
			fmt.Fprintf(&got, "%s %s: %v → %v\n", c.Op, c.Path, c.From, c.To)
		}
		if diff := cmp.Diff(docs["changes"], got.String()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

func content(t *testing.T, text string) map[string]any {
	t.Helper()
	if u := objecttest.Parse(t, text); u != nil {
		return u.Object
	}
	return nil
}

// Long lists are read once, whatever names their items: with one look at every other item for each, this
// would not end.
func TestLongListsAreReadOnce(t *testing.T) {
	for _, field := range []string{"name", "id"} {
		list := func(last string) map[string]any {
			var items []any
			for i := range 200_000 {
				items = append(items, map[string]any{field: fmt.Sprint("n", i), "v": "1"})
			}
			items[len(items)-1].(map[string]any)["v"] = last
			return map[string]any{"items": items}
		}
		got := Compare(list("1"), list("2"))
		if len(got) != 1 || !strings.HasPrefix(got[0].Path, "items[n199999]") {
			t.Errorf("%s: %d changes", field, len(got))
		}
	}
}
