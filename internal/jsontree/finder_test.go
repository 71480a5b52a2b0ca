package jsontree

import (
	"fmt"
	"testing"
)

// Finder finds what Find does, in short and in long lists: the first of several items, and none without a key.
func TestFinder(t *testing.T) {
	for _, n := range []int{0, 3, 100} {
		list := []any{"text", map[string]any{"other": 1}}
		for i := range n {
			list = append(list, map[string]any{"name": fmt.Sprint("a", i), "at": i}, map[string]any{"name": int64(i)}, map[string]any{"name": "twice", "at": i})
		}
		find := Finder(list, "name")
		for _, id := range []any{nil, "", "a0", "a2", "a99", int64(2), 2.0, "twice", true} {
			got, want := fmt.Sprint(find(id)), fmt.Sprint(Find(list, "name", id))
			if got != want {
				t.Errorf("of %d items, %v is %s, want %s", n, id, got, want)
			}
		}
	}
}
