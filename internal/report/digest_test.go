package report

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Whoever makes both plans can find two whose digests begin alike, so a comment keeps all of it.
func TestEffectLineHasTheWholeDigest(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	if got := effectLine(plan.Summary{}, "sha256:"+digest); !strings.HasPrefix(got, "<!-- effect="+digest+" ") {
		t.Errorf("got %s", got)
	}
}
