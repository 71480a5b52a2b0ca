package lint

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/crdschema"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// custom checks a custom resource against the CustomResourceDefinition in crds/ that defines its kind.
// Findings are warnings: a webhook may complete the object before the API server checks it.
func (r *run) custom(o manifest.Object, at Finding) {
	crd := r.definitions()[o.GroupKind()]
	if crd == nil {
		return
	}
	for _, why := range crdschema.Refuses(crd, o.Doc, false) {
		at.Severity, at.Message = Warning, crd.GetName()+" does not allow it: "+why
		r.add(at)
	}
}

// definitions returns the CRDs of crds/ folders by the kinds that they define. It reads them once.
func (r *run) definitions() map[schema.GroupKind]*unstructured.Unstructured {
	if r.defined != nil {
		return r.defined
	}
	r.defined = map[schema.GroupKind]*unstructured.Unstructured{}
	objects, _ := manifest.ParseCRDs(r.Chart.CRDs()) // crds reports the error
	for _, o := range objects {
		if d, ok := o.Defines(); ok && r.defined[d.GroupKind] == nil {
			r.defined[d.GroupKind] = o.Doc
		}
	}
	return r.defined
}
