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

// podAmounts returns the usage of a pod; what a LimitRange adds is known only from a dry run.
func podAmounts(spec *corev1.PodSpec) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	out := corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one}
	for name, amount := range podRequests(spec) {
		switch prefixed := "requests." + name; {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, hugePages(name):
			out[name], out[prefixed] = amount, amount
		default:
			out[prefixed] = amount
		}
	}
	for name, amount := range podLimits(spec) {
		out["limits."+name] = amount
	}
	return out
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// podRequests returns what a pod requests. A missing request of a container equals its limit. The limit of the
// pod as a whole is requested where no container requests anything, and always for huge pages
// (1.36.3, pkg/apis/core/v1/defaults.go, SetDefaults_Pod).
func podRequests(spec *corev1.PodSpec) corev1.ResourceList {
	total := sumOfContainers(spec, func(r corev1.ResourceRequirements) corev1.ResourceList {
		all := maps.Clone(r.Limits)
		if all == nil {
			all = corev1.ResourceList{}
		}
		maps.Copy(all, r.Requests)
		return all
	})
	if spec.Resources != nil {
		for name, amount := range spec.Resources.Limits {
			if _, requested := total[name]; !requested || hugePages(name) {
				total[name] = amount
			}
		}
		maps.Copy(total, spec.Resources.Requests)
	}
	addOverhead(total, spec)
	return total
}

func podLimits(spec *corev1.PodSpec) corev1.ResourceList {
	total := sumOfContainers(spec, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
	if spec.Resources != nil {
		maps.Copy(total, spec.Resources.Limits)
	}
	addOverhead(total, spec)
	return total
}

// sumOfContainers sums up the resources of a pod's containers. Init containers run one after another;
// restartable ones (sidecars) keep running alongside the other containers
// (k8s.io/component-helpers/resource, PodRequests).
func sumOfContainers(spec *corev1.PodSpec, asks func(corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
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
	return total
}

func addOverhead(total corev1.ResourceList, spec *corev1.PodSpec) {
	for name, amount := range spec.Overhead {
		if sum, ok := total[name]; ok {
			sum = sum.DeepCopy()
			sum.Add(amount)
			total[name] = sum
		}
	}
}
