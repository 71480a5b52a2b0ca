package plan

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Only what makes admission laxer excuses a refusal. A namespace without a level of Pod Security has the
// cluster's default, which may be any.
func TestWhatRelaxesAdmission(t *testing.T) {
	for _, c := range []struct {
		from, to any
		want     bool
	}{
		{nil, "privileged", true},
		{nil, "baseline", true},
		{nil, "restricted", false},
		{"baseline", "privileged", true},
		{"baseline", "restricted", false},
		{"restricted", "restricted", false},
		{"baseline", nil, true},
	} {
		if got := relaxes(fielddiff.Change{Path: enforced + "]", From: c.from, To: c.to}); got != c.want {
			t.Errorf("%v → %v: %v", c.from, c.to, got)
		}
	}
}

// A kind is no pattern: a binding's roleRef may have any.
func TestKindsAreNoPatterns(t *testing.T) {
	if !named(manifest.ID{Kind: "Ro(le", Name: "web"}, `no ro(le with name web was found`) {
		t.Error("the object is not found")
	}
}
