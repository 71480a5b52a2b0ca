package lint

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/crdschema"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// custom checks a custom resource against the CustomResourceDefinition in crds/ that defines its kind.
// Findings are warnings: a webhook may complete the object before the API server checks it.
func (r *run) custom(o manifest.Object, at Finding) {
	crd := r.definitions()[o.GroupKind()].CRD.Doc
	if crd == nil {
		return
	}
	for _, why := range crdschema.Refuses(crd, o.Doc, false) {
		at.Severity, at.Message = Warning, crd.GetName()+" does not allow it: "+why
		r.add(at)
	}
}

// definitions returns the kinds that the CRDs of crds/ folders define. It reads them once.
func (r *run) definitions() map[schema.GroupKind]manifest.DefinedKind {
	if r.defined == nil {
		objects, _ := manifest.ParseCRDs(r.Chart.CRDs()) // crds reports the error
		r.defined = manifest.DefinedKinds(objects)
	}
	return r.defined
}
