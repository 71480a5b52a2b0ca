package quota

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// OfPods returns the usage of so many equal pods together; of none without a spec.
func OfPods(spec *corev1.PodSpec, pods int64) Usage {
	u := Usage{Amounts: corev1.ResourceList{}, Pod: spec}
	if spec == nil {
		return u
	}
	for name, amount := range podAmounts(spec) {
		amount = amount.DeepCopy() // Mul and Add change a fraction such as 1.5Gi in place, and names share it
		amount.Mul(pods)
		u.Amounts[name] = amount
	}
	return u
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
		Add(total, asks(c.Resources))
	}
	for _, c := range spec.InitContainers {
		during := corev1.ResourceList{}
		Add(during, beside)
		Add(during, asks(c.Resources))
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			Add(total, asks(c.Resources))
			Add(beside, asks(c.Resources))
		}
		Raise(most, during)
	}
	Raise(total, most)
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
