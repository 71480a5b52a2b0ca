package plan

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
)

// A path is touched by a change at it, below it or above it, but not by one whose path merely shares a
// prefix; checked for every pair of paths.
func TestPathsTouch(t *testing.T) {
	all := []string{"spec", "spec.a", "spec.a-b", "spec.a.b", "spec.a[0]", "spec.a[0].b", "spec.ab", "specs", "data.x.y", "data.x", "[0]", "a"}
	for _, changed := range all {
		for _, path := range all {
			want := within(changed, path) || within(path, changed)
			// Neighbours in the sort order make no difference.
			among := []fielddiff.Change{{Path: "!"}, {Path: changed}, {Path: "~"}}
			if got := pathsOf(among).touch(path); got != want {
				t.Errorf("%s is changed: %s is touched: %v, want %v", changed, path, got, want)
			}
		}
	}
	if pathsOf(nil).touch("spec") {
		t.Error("nothing is changed, and spec is touched")
	}
}
