package engine

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Offline stands for a cluster that nobody can ask: it serves whatever a chart
// has objects of.
type Offline struct {
	// Capabilities are what templates see.
	Capabilities *templating.Capabilities
}

// Facts implements API: the version and the API versions that were named.
func (o Offline) Facts(context.Context) (cluster.Facts, error) {
	return cluster.Facts{KubeVersion: o.Capabilities.KubeVersion.Version, APIVersions: o.Capabilities.APIVersions}, nil
}

// Kinds implements API. Scopes are known of built-in kinds only.
func (o Offline) Kinds(_ context.Context, gvks []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	kinds := map[schema.GroupKind]plan.Kind{}
	for _, gvk := range gvks {
		k := kinds[gvk.GroupKind()]
		if !slices.Contains(k.Versions, gvk.Version) {
			k.Versions = append(k.Versions, gvk.Version)
		}
		k.Scope = BuiltinScope(gvk.GroupKind())
		kinds[gvk.GroupKind()] = k
	}
	return kinds, nil
}

// BuiltinScope is the scope of a kind of Kubernetes' own (1.37, and what charts
// still carry of older ones); unknown for any other.
func BuiltinScope(gk schema.GroupKind) manifest.Scope {
	switch gk.Group {
	case "":
		return scopeAmong(gk.Kind, "Namespace", "Node", "PersistentVolume", "ComponentStatus")
	case "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io",
		"node.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io":
		return manifest.ScopeCluster
	case "authentication.k8s.io":
		return scopeAmong(gk.Kind, "SelfSubjectReview", "TokenReview")
	case "authorization.k8s.io":
		return scopeAmong(gk.Kind, "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview")
	case "certificates.k8s.io":
		return scopeAmong(gk.Kind, "CertificateSigningRequest", "ClusterTrustBundle")
	case "networking.k8s.io":
		return scopeAmong(gk.Kind, "IngressClass", "IPAddress", "ServiceCIDR")
	case "policy":
		return scopeAmong(gk.Kind, "PodSecurityPolicy")
	case "rbac.authorization.k8s.io":
		return scopeAmong(gk.Kind, "ClusterRole", "ClusterRoleBinding")
	case "resource.k8s.io":
		return scopeAmong(gk.Kind, "DeviceClass", "ResourceSlice", "DeviceTaintRule", "ResourcePoolStatusRequest")
	case "scheduling.k8s.io":
		return scopeAmong(gk.Kind, "PriorityClass")
	case "storage.k8s.io":
		return scopeAmong(gk.Kind, "StorageClass", "CSIDriver", "CSINode", "VolumeAttachment", "VolumeAttributesClass")
	case "apps", "autoscaling", "batch", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "lifecycle.k8s.io":
		return manifest.ScopeNamespaced
	}
	return manifest.ScopeUnknown
}

func scopeAmong(kind string, clusterWide ...string) manifest.Scope {
	if slices.Contains(clusterWide, kind) {
		return manifest.ScopeCluster
	}
	return manifest.ScopeNamespaced
}
