package plan

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// aggregateTo begins the labels of ClusterRoles whose rules are added to another one, such as view
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles).
const aggregateTo = "rbac.authorization.k8s.io/aggregate-to-"

// aggregated returns the ClusterRoles that a ClusterRole is added to or taken out of by its labels, and those that
// are added to it or taken out of it by its aggregationRule.
func (c AccessChange) aggregated(before, after *unstructured.Unstructured) []AccessChange {
	self := c.Object.Kind + "/" + c.Object.Name
	changes := c.of(self, addedTo(before), addedTo(after))
	had, has := selected(before), selected(after)
	for _, roles := range has {
		if !slices.Contains(had, roles) {
			changes = append(changes, c.of(roles, nil, []string{self})...)
		}
	}
	for _, roles := range had {
		if !slices.Contains(has, roles) {
			changes = append(changes, c.of(roles, []string{self}, nil)...)
		}
	}
	return changes
}

// addedTo returns the ClusterRoles to which a ClusterRole's labels add its rules.
func addedTo(role *unstructured.Unstructured) []string {
	if role == nil {
		return nil
	}
	var names []string
	labels := role.GetLabels()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if name, ok := strings.CutPrefix(key, aggregateTo); ok && labels[key] == "true" {
			names = append(names, kinds.ClusterRole.Kind+"/"+name)
		}
	}
	return names
}

// selected describes the ClusterRoles whose rules a ClusterRole's aggregationRule adds to it.
func selected(role *unstructured.Unstructured) []string {
	var of rbacv1.ClusterRole
	if role == nil || !apitypes.Typed(role, &of) || of.AggregationRule == nil {
		return nil
	}
	var out []string
	for _, s := range of.AggregationRule.ClusterRoleSelectors {
		roles := "every ClusterRole"
		if len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
			roles += " with " + metav1.FormatLabelSelector(&s)
		}
		out = append(out, roles)
	}
	return out
}
