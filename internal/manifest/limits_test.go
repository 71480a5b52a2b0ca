package manifest_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// TestEntries: a key counts once, however it is written; what holds others, and each item, counts as well.
func TestEntries(t *testing.T) {
	for text, want := range map[string]int{
		"a: 1\nb: 2\n": 2, "{a: 1, b: 2}": 3, "x: {a: 1, b: 2, c: 3}": 5,
		"[a, b, c]": 3, "[{a: 1}, {b: 2}]": 6, "- a: 1\n- b: 2\n": 4,
		"{\"a\":1,\"b\":2}": 2, "a: x,\nb: y,\nc: z\n": 3, "[[[[": 4, ",,,,": 4, "? a\n: b\n": 2,
	} {
		if got := manifest.Entries(text); got != want {
			t.Errorf("%q has %d entries, want %d", text, got, want)
		}
	}
}
