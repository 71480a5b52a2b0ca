package managedfields

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestOnlyKubectlConflicts(t *testing.T) {
	conflict := func(messages ...string) error {
		var causes []metav1.StatusCause
		for _, m := range messages {
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: m})
		}
		return apierrors.NewApplyConflict(causes, "conflict")
	}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"an edit", conflict(`conflict with "kubectl-edit" using v1`), true},
		{"a patch and a scale", conflict(`conflict with "kubectl-patch" using v1`, `conflict with "kubectl" with subresource "scale" using apps/v1`), true},
		{"an apply with kubectl --server-side", conflict(`conflict with "kubectl"`), false},
		{"a controller", conflict(`conflict with "kube-controller-manager" with subresource "scale" using apps/v1`), false},
		{"an edit and a controller", conflict(`conflict with "kubectl-edit" using v1`, `conflict with "keda" using v1`), false},
		{"a name that begins alike", conflict(`conflict with "kubectlish" using v1`), false},
		{"no cause", conflict(), false},
		{"another conflict", apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("modified")), false},
		{"another error", errors.New(`conflict with "kubectl-edit" using v1`), false},
		{"none", nil, false},
	} {
		if got := OnlyKubectlConflicts(c.err); got != c.want {
			t.Errorf("%s: OnlyKubectlConflicts = %v, want %v", c.name, got, c.want)
		}
	}
}

// An apply conflicts over what it sets to another value than somebody else has, not over what it leaves out.
func TestConflicts(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		entry("other", 1, `{"f:spec":{"f:theirs":{},"f:same":{},"f:left":{},"f:list":{}}}`),
	}
	live := map[string]any{"spec": map[string]any{"ours": "a", "theirs": "a", "same": "a", "left": "a", "list": []any{"a"}}}
	body := map[string]any{"spec": map[string]any{"ours": "b", "theirs": "b", "same": "a", "list": []any{"a", "b"}, "new": "b"}}
	var paths []string
	for _, c := range Conflicts(entries, live, body) {
		paths = append(paths, c.Path+" of "+c.Owner.Manager)
	}
	if got, want := strings.Join(paths, ", "), "spec.list of other, spec.theirs of other"; got != want {
		t.Errorf("conflicts: %s, want %s", got, want)
	}
}
