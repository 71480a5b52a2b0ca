package apply

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/internal/crdschema"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// redefine notes that this run has changed the schema in a CRD. Until the API server has it, it would drop new
// fields without an error (k8s.io/apiextensions-apiserver 0.36, pkg/apiserver/customresource_handler.go,
// updateCustomResourceDefinition), so custom resources of that kind are first sent with strict validation.
func (r *run) redefine(s *plan.Step) {
	defined, isCRD := kinds.Define(s.Body)
	if !isCRD || s.Before == nil {
		return
	}
	if differs := crdschema.Compare(s.Before, s.Body); differs.Fields > differs.Display {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.redefined[defined.GroupKind] = true
	}
}

// strict reports whether an object is to be validated strictly, since this run has changed its schema.
func (r *run) strict(id manifest.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.redefined[id.GroupKind()]
}

// outdated reports whether a step's object may have been refused only by the schema from before this run
// changed its CRD: then it is sent again. After lagAttempts, objects of that kind are validated as any
// other, so unknown fields are dropped, and a refusal is the step's error. refusals is as in unnoticed.
func (r *run) outdated(s *plan.Step, refusals int, err error) bool {
	if s == nil || !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	waits, redefined := r.redefined[s.Object.GroupKind()]
	if !redefined {
		return false
	}
	if refusals >= lagAttempts {
		r.redefined[s.Object.GroupKind()], waits = false, false
	}
	return waits || refusedStrictly(err)
}

// refusedStrictly reports whether an object was refused only for strict validation: as a bad request or, if
// it is the outcome of a patch, as invalid (k8s.io/apimachinery 0.37, pkg/runtime/error.go,
// NewStrictDecodingError; k8s.io/apiserver 0.36, pkg/endpoints/handlers/patch.go).
func refusedStrictly(err error) bool { return strings.Contains(err.Error(), "strict decoding error: ") }
