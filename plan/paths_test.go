package plan

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
)

// A path is touched by what is changed at it, in it and above it, and not by what only begins
// like it; it is so with each of all pairs, as the two say of each other.
func TestPathsTouch(t *testing.T) {
	all := []string{"spec", "spec.a", "spec.a-b", "spec.a.b", "spec.a[0]", "spec.a[0].b", "spec.ab", "specs", "data.x.y", "data.x", "[0]", "a"}
	for _, changed := range all {
		for _, path := range all {
			want := within(changed, path) || within(path, changed)
			// What lies around it in the order is not it.
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
