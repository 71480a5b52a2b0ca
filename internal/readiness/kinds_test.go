package readiness

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// The table of kinds says which of them have a rule here, and no rule is missing or
// unknown to the table.
func TestRulesAreThoseOfTheTable(t *testing.T) {
	told := 0
	for _, k := range kinds.All() {
		if _, ok := rules[k.GroupKind]; ok != (k.Readiness == kinds.ByRule) {
			t.Errorf("%s: there is a rule: %v, and the table says %q", k.GroupKind, ok, k.Readiness)
		} else if ok {
			told++
		}
	}
	if told != len(rules) {
		t.Errorf("%d rules are of kinds that the table does not know", len(rules)-told)
	}
}

// A hook is followed to its end if its kind runs to one, or defines kinds; every other
// hook is done once it exists.
func TestHooksAreFollowedAsTheTableSays(t *testing.T) {
	for _, k := range kinds.All() {
		created := &unstructured.Unstructured{}
		created.SetGroupVersionKind(k.WithVersion("v1"))
		followed := HookDone(created, Context{}).State != Ready
		if want := k.RunsToItsEnd || k.GroupKind == kinds.CustomResourceDefinition; followed != want {
			t.Errorf("%s: a hook is followed: %v, want %v", k.GroupKind, followed, want)
		}
	}
}
