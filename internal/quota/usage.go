package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Usage is what an object counts for in the quotas of its namespace, following the evaluators of
// Kubernetes 1.36 (pkg/quota/v1/evaluator/core).
type Usage struct {
	Amounts corev1.ResourceList
	// Pod is the object's spec if it is a pod: quotas with scopes count only pods.
	Pod *corev1.PodSpec
}

// Of returns the usage of an object of a resource such as "services", without pods of controllers. The API
// server would refuse an object that its Go type does not fit: it counts as an object only.
func Of(id manifest.ID, resource string, doc *unstructured.Unstructured) Usage {
	u := One(id.Group, resource)
	switch id.GroupKind() {
	case kinds.Pod:
		var pod corev1.Pod
		if apitypes.Typed(doc, &pod) {
			u.Pod = &pod.Spec
			maps.Copy(u.Amounts, podAmounts(&pod.Spec))
		}
	case kinds.Service:
		var service corev1.Service
		if apitypes.Typed(doc, &service) {
			maps.Copy(u.Amounts, serviceAmounts(&service.Spec))
		}
	case kinds.PersistentVolumeClaim:
		var claim corev1.PersistentVolumeClaim
		if apitypes.Typed(doc, &claim) {
			maps.Copy(u.Amounts, claimAmounts(&claim))
		}
	}
	return u
}

// Ended returns what is left of the usage of an object that has run to its end: of a pod, only that it is an
// object (pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc). A Job's pods are not part of its usage.
func (u Usage) Ended() Usage {
	if u.Pod == nil {
		return u
	}
	const count = "count/pods"
	return Usage{Amounts: corev1.ResourceList{count: u.Amounts[count]}, Pod: u.Pod}
}

// legacyCounts are the resources of the core group that also have a quota name without "count/"
// (pkg/quota/v1/evaluator/core/registry.go, legacyObjectCountAliases, and the evaluators next to
// it).
var legacyCounts = []string{
	"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services",
}

// One returns the usage of one object of a resource, of which nothing else is counted.
func One(group, name string) Usage {
	u := Usage{Amounts: corev1.ResourceList{}}
	counted := "count/" + name
	if group != "" {
		counted += "." + group
	}
	u.Amounts[corev1.ResourceName(counted)] = *resource.NewQuantity(1, resource.DecimalSI)
	if group == "" && slices.Contains(legacyCounts, name) {
		u.Amounts[corev1.ResourceName(name)] = *resource.NewQuantity(1, resource.DecimalSI)
	}
	return u
}

func serviceAmounts(spec *corev1.ServiceSpec) corev1.ResourceList {
	ports := len(spec.Ports)
	out := corev1.ResourceList{}
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer:
		out[corev1.ResourceServicesLoadBalancers] = *resource.NewQuantity(1, resource.DecimalSI)
		if spec.AllocateLoadBalancerNodePorts != nil && !*spec.AllocateLoadBalancerNodePorts {
			ports = 0
			for _, p := range spec.Ports {
				if p.NodePort != 0 {
					ports++
				}
			}
		}
		fallthrough
	case corev1.ServiceTypeNodePort:
		out[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(int64(ports), resource.DecimalSI)
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName:
	}
	return out
}

func claimAmounts(claim *corev1.PersistentVolumeClaim) corev1.ResourceList {
	out := corev1.ResourceList{}
	storage, given := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if given {
		out[corev1.ResourceRequestsStorage] = storage
	}
	class := claim.Annotations[corev1.BetaStorageClassAnnotation]
	if class == "" && claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	if class == "" {
		return out
	}
	of := func(name corev1.ResourceName) corev1.ResourceName {
		return corev1.ResourceName(class+".storageclass.storage.k8s.io/") + name
	}
	out[of(corev1.ResourcePersistentVolumeClaims)] = *resource.NewQuantity(1, resource.DecimalSI)
	if given {
		out[of(corev1.ResourceRequestsStorage)] = storage
	}
	return out
}
