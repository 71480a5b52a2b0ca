// Package quota knows what objects use of the ResourceQuotas of their namespace, and what a quota has left.
//
// It knows no plan and asks no cluster: what a LimitRange adds to a pod, for example, only a dry run tells.
package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Quota is a ResourceQuota as the quota admission plugin sees it.
type Quota struct {
	Namespace    string
	limits, used corev1.ResourceList
	scopes       []corev1.ScopedResourceSelectorRequirement
}

// New returns a quota with these limits, which may be others than those that it has now.
func New(q *corev1.ResourceQuota, limits corev1.ResourceList) Quota {
	out := Quota{Namespace: q.Namespace, limits: limits, used: q.Status.Used}
	for _, scope := range q.Spec.Scopes {
		out.scopes = append(out.scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		out.scopes = append(out.scopes, q.Spec.ScopeSelector.MatchExpressions...)
	}
	return out
}

// Counts returns the part of an object's usage that this quota limits: nothing if the object is
// outside its scopes.
func (q Quota) Counts(u Usage) corev1.ResourceList {
	for _, scope := range q.scopes {
		if u.Pod == nil || !inScope(scope, u.Pod) {
			return nil
		}
	}
	out := corev1.ResourceList{}
	for name, amount := range u.Amounts {
		if _, limited := q.limits[name]; limited {
			out[name] = amount
		}
	}
	return out
}

// Shortages describes each limit that is exceeded, ordered by name.
func (q Quota) Shortages(added corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(added)) {
		more, limit, used := added[name], q.limits[name], q.used[name]
		left := limit.DeepCopy()
		left.Sub(used)
		if more.Sign() <= 0 || more.Cmp(left) <= 0 {
			continue
		}
		if left.Sign() < 0 {
			left = resource.Quantity{}
		}
		out = append(out, fmt.Sprintf("%s: %s of %s used, %s more needed, %s left", name, used.String(), limit.String(), more.String(), left.String()))
	}
	return out
}
