package engine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// defineScopes completes what discovery does not know by the CRDs in the input:
// the kinds that they bring are not served yet, or nobody was asked.
func defineScopes(kinds map[schema.GroupKind]plan.Kind, lists ...[]manifest.Object) {
	for _, objects := range lists {
		for _, o := range objects {
			if !o.IsCRD() {
				continue
			}
			group, _, _ := unstructured.NestedString(o.Doc.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(o.Doc.Object, "spec", "names", "kind")
			scope, _, _ := unstructured.NestedString(o.Doc.Object, "spec", "scope")
			gk := schema.GroupKind{Group: group, Kind: kind}
			if k, asked := kinds[gk]; asked && k.Scope == manifest.ScopeUnknown {
				k.Scope = manifest.ScopeNamespaced
				if scope == "Cluster" {
					k.Scope = manifest.ScopeCluster
				}
				kinds[gk] = k
			}
		}
	}
}
