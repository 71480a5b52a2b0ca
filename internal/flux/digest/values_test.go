package digest_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
)

// Check 4 of FLUX.md.
func TestCheck4ConfigDigest(t *testing.T) {
	for _, c := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"nested": map[string]any{"a": 5.0}, "msg": "one"}, "sha256:e5a04381c0b3"},
		{map[string]any{}, "sha256:e3b0c442"},
		{nil, "sha256:e3b0c442"},
	} {
		if got, err := digest.Values(c.values); err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %s, %v, want %s", c.values, got, err, c.want)
		}
	}
}
