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

// Offline stands in for a cluster when there is none: it serves every kind that a chart has
// objects of.
type Offline struct {
	// Capabilities are what templates see.
	Capabilities *templating.Capabilities
	// Lookup answers lookups in the cluster's place; nil finds nothing.
	Lookup templating.LookupFunc
}

// Facts implements API: the version and the API versions that were named.
func (o Offline) Facts(context.Context) (cluster.Facts, error) {
	return cluster.Facts{KubeVersion: o.Capabilities.KubeVersion.Version, APIVersions: o.Capabilities.APIVersions}, nil
}

// Kinds implements API. Scopes are known of built-in kinds only.
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

// BuiltinScope is the scope of a kind of Kubernetes' own; unknown for any other.
func BuiltinScope(gk schema.GroupKind) manifest.Scope {
	switch clusterScoped, known := kinds.Scope(gk); {
	case !known:
		return manifest.ScopeUnknown
	case clusterScoped:
		return manifest.ScopeCluster
	}
	return manifest.ScopeNamespaced
}
