package manifest_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// TestEntries: what holds others counts, and each item and key; a pair in a flow sequence is a mapping of
// its own, so that it counts as its comma and its colon.
func TestEntries(t *testing.T) {
	for text, want := range map[string]int{
		"a: 1\nb: 2\n": 2, "- a: 1\n- b: 2\n": 4, "[a, b, c]": 3, "[a: 1, b: 2]": 4, "{a: 1, b: 2}": 4, "[[[[": 4, ",,,,": 4, "? a\n: b\n": 2,
	} {
		if got := manifest.Entries(text); got != want {
			t.Errorf("%q has %d entries, want %d", text, got, want)
		}
	}
}
