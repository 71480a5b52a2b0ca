package immutable

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// The table of kinds says which of them have a function here, and no function is
// missing or unknown to the table.
func TestFunctionsAreThoseOfTheTable(t *testing.T) {
	told := 0
	for _, k := range kinds.All() {
		if _, ok := own[k.GroupKind]; ok != k.Immutable.ByRule {
			t.Errorf("%s: there is a function: %v, and the table says %v", k.GroupKind, ok, k.Immutable.ByRule)
		} else if ok {
			told++
		}
	}
	if told != len(own) {
		t.Errorf("%d functions are of kinds that the table does not know", len(own)-told)
	}
}
