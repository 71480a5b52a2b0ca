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
// no rule in other covers as a whole; from the twenty-first on, rules in other only cover equal ones. Of a rule with very many resources it lists a hundred, those that allow
// most among them, and says how many more there are.
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

// targets lists the resources of a normal rule.
func targets(r rbacv1.PolicyRule) []string {
	resources := r.Resources // "*" comes first
	if i, ok := slices.BinarySearch(resources, "secrets"); ok {
		resources = slices.Concat([]string{"secrets"}, resources[:i], resources[i+1:])
	}
	var out []string
	for _, group := range r.APIGroups { // the core group, which has no name, comes first
		for _, resource := range resources {
			if len(out) == maxListed {
				return append(out, fmt.Sprintf("and %d more", len(r.APIGroups)*len(resources)-maxListed))
			}
			out = append(out, Right{group: group, resource: resource}.String())
		}
	}
	return out
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
