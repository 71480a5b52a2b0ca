package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// defineScopes completes what discovery does not know by the CRDs in the input:
// the kinds that they bring are not served yet, or nobody was asked.
func defineScopes(kinds map[schema.GroupKind]plan.Kind, lists ...[]manifest.Object) {
	for _, objects := range lists {
		for _, o := range objects {
			d, ok := o.Defines()
			if k, asked := kinds[d.GroupKind]; ok && asked && k.Scope == manifest.ScopeUnknown {
				k.Scope = manifest.ScopeNamespaced
				if d.ClusterScoped {
					k.Scope = manifest.ScopeCluster
				}
				kinds[d.GroupKind] = k
			}
		}
	}
}
