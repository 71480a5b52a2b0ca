package helptext

import (
	"strings"
	"testing"
)

// Words stay as they are, one meaning below the other, and examples can be pasted.
func TestHelpIsWrapped(t *testing.T) {
	const text = `Deploys charts. A paragraph that
was broken elsewhere.

Examples:
  kubectl release plan web ./chart -f prod.yaml   # what would happen

Flags:
  --out FILE                   save the plan in FILE, for apply
  --a-flag-with-a-long-name N  what does not fit beside it
`
	const want = `Deploys charts. A paragraph that was broken elsewhere.

Examples:
  kubectl release plan web ./chart -f prod.yaml   # what would happen

Flags:
  --out FILE                   save the plan in FILE, for
                               apply
  --a-flag-with-a-long-name N  what does not fit beside it
`
	if got := Fit(text, 61); got != want {
		t.Errorf("at 61 columns:\n%s", got)
	}
	if got := Fit(text, 45); !strings.Contains(got, "\n  --out FILE\n        save the plan in FILE, for apply\n") {
		t.Errorf("at 45 columns:\n%s", got)
	}
}
