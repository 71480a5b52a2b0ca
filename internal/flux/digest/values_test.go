package digest_test

import (
	"crypto/sha256"
	"fmt"
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
		{
			map[string]any{"z": true, "t": map[string]any{"d": 1.0, "c": nil, "b": "x", "a": 3.0}, "x": []any{map[string]any{"b": 2.0, "a": []any{"q"}, "c": 0.5}}, "w": "", "v": "1"},
			sum("t:\n  a: 3\n  b: x\n  c: null\n  d: 1\nv: \"1\"\nw: \"\"\nx:\n- a:\n  - q\n  b: 2\n  c: 0.5\nz: true\n"),
		},
		{nil, "sha256:e3b0c442"},
	} {
		if got, err := digest.Values(c.values); err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %s, %v, want %s", c.values, got, err, c.want)
		}
	}
}

// sum returns the digest of values whose YAML, sorted by keys at every level, is the text.
func sum(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
