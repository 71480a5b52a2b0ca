package quota

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// inScope reports whether a pod matches a quota's scope (Kubernetes 1.36,
// pkg/quota/v1/evaluator/core/pods.go). An unknown scope matches no pod.
func inScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.PodSpec) bool {
	ends := pod.ActiveDeadlineSeconds != nil
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return ends
	case corev1.ResourceQuotaScopeNotTerminating:
		return !ends
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(pod)
	case corev1.ResourceQuotaScopePriorityClass:
		if scope.Operator == corev1.ScopeSelectorOpExists && len(scope.Values) == 0 {
			return pod.PriorityClassName != ""
		}
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: string(scope.ScopeName), Operator: metav1.LabelSelectorOperator(scope.Operator), Values: scope.Values},
		}})
		if err != nil {
			return false
		}
		var is labels.Set
		if pod.PriorityClassName != "" {
			is = labels.Set{string(scope.ScopeName): pod.PriorityClassName}
		}
		return selector.Matches(is)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity, corev1.ResourceQuotaScopeVolumeAttributesClass:
		return false
	}
	return false
}

// bestEffort reports whether no container has a CPU or memory request or limit.
func bestEffort(pod *corev1.PodSpec) bool {
	amounts := podAmounts(pod)
	for _, name := range []corev1.ResourceName{
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	} {
		if amount := amounts[name]; amount.Sign() != 0 {
			return false
		}
	}
	return true
}
