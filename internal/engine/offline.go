package engine

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Offline replaces a cluster: it serves every kind of object that a chart contains.
type Offline struct {
	// Capabilities are what templates see.
	Capabilities *templating.Capabilities
	// Lookup answers lookups; if it is nil, they find nothing.
	Lookup templating.LookupFunc
}

// Facts implements API with the versions of the Capabilities.
func (o Offline) Facts(context.Context) (cluster.Facts, error) {
	return cluster.Facts{KubeVersion: o.Capabilities.KubeVersion, APIVersions: o.Capabilities.APIVersions}, nil
}

// Kinds implements API. It knows only the scopes of built-in kinds.
func (o Offline) Kinds(_ context.Context, gvks []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	served := map[schema.GroupKind]plan.Kind{}
	for _, gvk := range gvks {
		k := served[gvk.GroupKind()]
		if !slices.Contains(k.Versions, gvk.Version) {
			k.Versions = append(k.Versions, gvk.Version)
		}
		k.Scope = BuiltinScope(gvk.GroupKind())
		served[gvk.GroupKind()] = k
	}
	return served, nil
}

// BuiltinScope returns the scope of a built-in kind of Kubernetes, and manifest.ScopeUnknown for
// any other kind.
func BuiltinScope(gk schema.GroupKind) manifest.Scope {
	switch clusterScoped, known := kinds.Scope(gk); {
	case !known:
		return manifest.ScopeUnknown
	case clusterScoped:
		return manifest.ScopeCluster
	}
	return manifest.ScopeNamespaced
}
