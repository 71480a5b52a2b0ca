package apply

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// schemaAttempts is how often a custom resource may be refused while the API server still has the schema
// from before this run changed its CRD. It takes the new one from a watch, usually within milliseconds
// (k8s.io/apiextensions-apiserver 0.36, pkg/apiserver/customresource_handler.go,
// updateCustomResourceDefinition); the pauses between so many attempts take 3 seconds.
const schemaAttempts = 6

// redefine notes that this run has changed a CRD. Until the API server has its new schema, it would drop
// new fields without an error, so custom resources of that kind are first sent with strict validation.
func (r *run) redefine(s *plan.Step) {
	if !s.Object.IsCRD() || s.Before == nil {
		return
	}
	if kind, ok := definedBy(s.Body); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.redefined[kind] = true
	}
}

func definedBy(crd *unstructured.Unstructured) (kind schema.GroupKind, ok bool) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	name, ok, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: name}, ok
}

// redefines reports whether this run has changed the CRD of a kind, and the API server may not have the
// new schema yet.
func (r *run) redefines(id manifest.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.redefined[id.GroupKind()]
}

// outdated reports whether a step's object may have been refused by the schema from before this run
// changed its CRD: then it is worth another attempt. After schemaAttempts, the refusal counts: unknown
// fields are dropped as they are in other objects, and anything else is the step's error.
func (r *run) outdated(s *plan.Step, attempt int, err error) bool {
	bad := apierrors.IsBadRequest(err) // an unknown field, or one of another type
	if s == nil || !bad && !apierrors.IsInvalid(err) || !r.redefines(s.Object) {
		return false
	}
	if attempt < schemaAttempts {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.redefined, s.Object.GroupKind())
	return bad
}
