package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// groups are Kubernetes' own API groups (of 1.37, and older ones that charts still
// carry): true for those without any namespaced kind.
var groups = map[string]bool{
	"":                             false,
	"admissionregistration.k8s.io": true,
	"apiextensions.k8s.io":         true,
	"apiregistration.k8s.io":       true,
	"apps":                         false,
	"authentication.k8s.io":        false,
	"authorization.k8s.io":         false,
	"autoscaling":                  false,
	"batch":                        false,
	"certificates.k8s.io":          false,
	"coordination.k8s.io":          false,
	"discovery.k8s.io":             false,
	"events.k8s.io":                false,
	"extensions":                   false,
	"flowcontrol.apiserver.k8s.io": true,
	"internal.apiserver.k8s.io":    true,
	"lifecycle.k8s.io":             false,
	"networking.k8s.io":            false,
	"node.k8s.io":                  true,
	"policy":                       false,
	"rbac.authorization.k8s.io":    false,
	"resource.k8s.io":              false,
	"scheduling.k8s.io":            false,
	"storage.k8s.io":               false,
	"storagemigration.k8s.io":      true,
}

// Scope reports whether objects of a kind are in no namespace. known is false for
// groups that are not Kubernetes' own.
func Scope(gk schema.GroupKind) (cluster, known bool) {
	all, known := groups[gk.Group]
	return all || Of(gk).ClusterScoped, known
}
