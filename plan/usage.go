package plan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// usage is what an object counts for in the quotas of its namespace, following the evaluators of
// Kubernetes 1.36 (pkg/quota/v1/evaluator/core).
type usage struct {
	amounts corev1.ResourceList
	// pod is the object's spec if it is a pod: quotas with scopes count only pods.
	pod *corev1.PodSpec
}

// usageOf returns the usage of the object itself, without pods of controllers; it is empty for
// cluster-scoped objects.
func (b *builder) usageOf(id manifest.ID, doc *unstructured.Unstructured) usage {
	u := usage{amounts: corev1.ResourceList{}}
	name := b.in.Kinds[id.GroupKind()].Resource
	if name == "" && b.bringsKind(id) {
		name, _ = b.resourceOf(id)
	}
	if doc == nil || id.Namespace == "" || name == "" {
		return u
	}
	u.count(id.Group, name)
	switch id.GroupKind() {
	case kinds.Pod:
		var pod corev1.Pod
		if typed(doc, &pod) {
			u.pod = &pod.Spec
			maps.Copy(u.amounts, podAmounts(&pod.Spec))
		}
	case kinds.Service:
		var service corev1.Service
		if typed(doc, &service) {
			maps.Copy(u.amounts, serviceAmounts(&service.Spec))
		}
	case kinds.PersistentVolumeClaim:
		var claim corev1.PersistentVolumeClaim
		if typed(doc, &claim) {
			maps.Copy(u.amounts, claimAmounts(&claim))
		}
	}
	return u
}

// held returns the usage of a live object.
func (b *builder) held(id manifest.ID, live *unstructured.Unstructured) usage {
	u := b.usageOf(id, live)
	if live != nil && id.GroupKind() == kinds.Pod {
		phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
		if phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed) {
			return u.ended()
		}
	}
	return u
}

// ended returns what is left of the usage of an object that has run to its end: of a pod, only that it is an
// object (pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc). A Job's pods are not part of its usage.
func (u usage) ended() usage {
	if u.pod == nil {
		return u
	}
	const count = "count/pods"
	return usage{amounts: corev1.ResourceList{count: u.amounts[count]}, pod: u.pod}
}

// typed converts an object to its Go type and reports whether that succeeded. The API server would
// refuse an object for which it fails, so such an object counts for nothing.
func typed(doc *unstructured.Unstructured, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(doc.Object, into) == nil
}

// legacyCounts are the resources of the core group that also have a quota name without "count/"
// (pkg/quota/v1/evaluator/core/registry.go, legacyObjectCountAliases, and the evaluators next to
// it).
var legacyCounts = []string{
	"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services",
}

// count adds one object of a resource.
func (u *usage) count(group, name string) {
	counted := "count/" + name
	if group != "" {
		counted += "." + group
	}
	u.amounts[corev1.ResourceName(counted)] = *resource.NewQuantity(1, resource.DecimalSI)
	if group == "" && slices.Contains(legacyCounts, name) {
		u.amounts[corev1.ResourceName(name)] = *resource.NewQuantity(1, resource.DecimalSI)
	}
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

// podAmounts returns the usage of a pod. A missing request equals the limit; what a LimitRange adds
// is known only from a dry run.
func podAmounts(spec *corev1.PodSpec) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	out := corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one}
	requests := podTotal(spec, func(r corev1.ResourceRequirements) corev1.ResourceList {
		all := maps.Clone(r.Limits)
		if all == nil {
			all = corev1.ResourceList{}
		}
		maps.Copy(all, r.Requests)
		return all
	})
	for name, amount := range requests {
		switch prefixed := "requests." + name; {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out[name], out[prefixed] = amount, amount
		default:
			out[prefixed] = amount
		}
	}
	for name, amount := range podTotal(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }) {
		out["limits."+name] = amount
	}
	return out
}

// podTotal sums up the resources of a pod's containers. Init containers run one after another;
// restartable ones (sidecars) keep running alongside the other containers
// (k8s.io/component-helpers/resource, PodRequests).
func podTotal(spec *corev1.PodSpec, asks func(corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	total, beside, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for _, c := range spec.Containers {
		add(total, asks(c.Resources))
	}
	for _, c := range spec.InitContainers {
		during := corev1.ResourceList{}
		add(during, beside)
		add(during, asks(c.Resources))
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(total, asks(c.Resources))
			add(beside, asks(c.Resources))
		}
		raise(most, during)
	}
	raise(total, most)
	if spec.Resources != nil {
		maps.Copy(total, asks(*spec.Resources))
	}
	for name, amount := range spec.Overhead {
		if sum, ok := total[name]; ok {
			sum = sum.DeepCopy()
			sum.Add(amount)
			total[name] = sum
		}
	}
	return total
}

func add(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name].DeepCopy()
		total.Add(amount)
		sum[name] = total
	}
}

// raise sets each amount to at least the one in the other list.
func raise(list, other corev1.ResourceList) {
	for name, amount := range other {
		if has := list[name]; has.Cmp(amount) < 0 {
			list[name] = amount
		}
	}
}

// less returns a minus b; amounts may be negative.
func less(a, b corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	add(out, a)
	for name, amount := range b {
		left := out[name].DeepCopy()
		left.Sub(amount)
		out[name] = left
	}
	return out
}

// workload holds the number and the spec of an object's pods.
type workload struct {
	pods int64
	spec *corev1.PodSpec
}

// workloadOf returns the workload of an object whose kind has a number of pods in its spec; was is
// the number to use if the object does not set it.
func workloadOf(id manifest.ID, doc *unstructured.Unstructured, was int64) workload {
	field := kinds.Of(id.GroupKind()).Pods
	if doc == nil || field == "" {
		return workload{}
	}
	var of struct {
		Spec struct {
			Suspend  bool                   `json:"suspend"`
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if !typed(doc, &of) {
		return workload{}
	}
	pods, given, err := unstructured.NestedInt64(doc.Object, "spec", field)
	if !given || err != nil {
		pods = was
	}
	if all, limited, err := unstructured.NestedInt64(doc.Object, "spec", "completions"); limited && err == nil {
		pods = min(pods, all)
	}
	if of.Spec.Suspend {
		pods = 0
	}
	return workload{pods: pods, spec: &of.Spec.Template.Spec}
}

// amounts returns the usage of all the pods together.
func (w workload) amounts() corev1.ResourceList {
	out := corev1.ResourceList{}
	if w.spec == nil {
		return out
	}
	for name, amount := range podAmounts(w.spec) {
		amount = amount.DeepCopy() // Mul and Add change a fraction such as 1.5Gi in place, and names share it
		amount.Mul(w.pods)
		out[name] = amount
	}
	return out
}
