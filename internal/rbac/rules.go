package rbac

import (
	"encoding/json"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Size returns how many rights Rights would list. A rule of a few kilobytes grants each of its verbs
// on each resource in each group: a billion rights.
func Size(rules []rbacv1.PolicyRule) int {
	const most = 1 << 40 // far more than can be listed, and no product of two lists overflows
	size := 0
	for _, r := range rules {
		targets := min(len(r.APIGroups)*len(r.Resources), most) * max(len(r.ResourceNames), 1)
		size = min(size+len(r.Verbs)*min(targets+len(r.NonResourceURLs), most), most)
	}
	return size
}

// maxListed is how many resources of a rule RulesBeyond lists.
const maxListed = 100

// maxRules is how many rules of the other role RulesBeyond compares with each rule.
const maxRules = 20

// RulesBeyond is Beyond for roles with more rights than can be listed: it returns the rules in list that
// no rule in other covers as a whole; from the twenty-first on, rules in other only cover equal ones. Of a
// rule with very many resources it lists a hundred, first those with which more rights can be gained, and
// says how many more there are.
func RulesBeyond(list, other []rbacv1.PolicyRule) []Grant {
	has := map[string]bool{}
	for _, r := range other {
		has[textOf(r)] = true
	}
	var covering []ruleCoverage
	for _, r := range other[:min(len(other), maxRules)] {
		covering = append(covering, newRuleCoverage(r))
	}
	var out []Grant
	for _, r := range list {
		text := textOf(r)
		if has[text] {
			continue
		}
		has[text] = true // once is enough
		if slices.ContainsFunc(covering, func(c ruleCoverage) bool { return c.covers(r) }) {
			continue
		}
		r = normal(r)
		if len(r.NonResourceURLs) > 0 {
			out = append(out, Grant{Verbs: r.Verbs, Resources: r.NonResourceURLs})
		}
		if len(r.APIGroups)*len(r.Resources) > 0 {
			out = append(out, Grant{Verbs: r.Verbs, Resources: targets(r), Names: r.ResourceNames})
		}
	}
	return out
}

// With these resources in these groups more rights can be gained
// (https://kubernetes.io/docs/concepts/security/rbac-good-practices/). Together they are fewer than maxListed.
var (
	escalatingGroups    = []string{"", "*", "rbac.authorization.k8s.io", "admissionregistration.k8s.io"}
	escalatingResources = []string{
		"secrets", "*", "*/exec", "*/attach", "*/token", "*/proxy", "pods/exec", "pods/attach", "pods/ephemeralcontainers",
		"serviceaccounts/token", "serviceaccounts", "nodes/proxy", "roles", "clusterroles", "rolebindings", "clusterrolebindings",
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "pods",
	}
)

// targets lists the resources of a normal rule.
func targets(r rbacv1.PolicyRule) []string {
	groups, g := foremost(r.APIGroups, escalatingGroups)
	resources, n := foremost(r.Resources, escalatingResources)
	var out []string
	add := func(groups, resources []string) {
		for _, group := range groups {
			for _, resource := range resources {
				if len(out) == maxListed {
					return
				}
				out = append(out, Right{group: group, resource: resource}.String())
			}
		}
	}
	add(groups[:g], resources[:n])
	add(groups[:g], resources[n:])
	add(groups[g:], resources)
	if more := len(groups)*len(resources) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// foremost returns a list with those first that are in known, in its order, and how many they are.
func foremost(list, known []string) (out []string, n int) {
	has, first := setOf(list), setOf(known)
	for _, item := range known {
		if has[item] {
			out = append(out, item)
		}
	}
	n = len(out)
	for _, item := range list {
		if !first[item] {
			out = append(out, item)
		}
	}
	return out, n
}

// textOf returns the same text for rules that list the same.
func textOf(r rbacv1.PolicyRule) string {
	text, _ := json.Marshal(normal(r)) // lists of texts: no error
	return string(text)
}

// normal returns a rule with its lists sorted and nothing in them twice.
func normal(r rbacv1.PolicyRule) rbacv1.PolicyRule {
	for _, list := range []*[]string{&r.Verbs, &r.APIGroups, &r.Resources, &r.ResourceNames, &r.NonResourceURLs} {
		sorted := slices.Clone(*list)
		slices.Sort(sorted)
		*list = slices.Compact(sorted)
	}
	return r
}
