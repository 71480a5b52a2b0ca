// Package rbac compares what RBAC's roles allow: which rights one has that another one has not, with the
// wildcards that Kubernetes knows.
//
// It judges no right, and does not know who has a role.
package rbac

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Grant is a set of verbs on resources such as "deployments.apps", or on URLs of the API server
// such as "/metrics". Names limits it to single objects.
type Grant struct{ Verbs, Resources, Names []string }

// Right is one verb on one resource or URL; a name limits it to a single object.
type Right struct{ verb, group, resource, name, url string }

// Rights returns the rights that the rules of a role grant.
func Rights(rules []rbacv1.PolicyRule) []Right {
	var out []Right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				out = append(out, Right{verb: verb, url: url})
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range names {
						out = append(out, Right{verb, group, resource, name, ""})
					}
				}
			}
		}
	}
	return out
}

// Beyond returns the rights in list that other does not cover, grouped by verbs and name.
func Beyond(list, other []Right) []Grant {
	has := newCoverage(other)
	verbs := map[Right]map[string]bool{} // by resource and name
	for _, r := range list {
		if has.covers(r) {
			continue
		}
		target := r
		target.verb = ""
		if verbs[target] == nil {
			verbs[target] = map[string]bool{}
		}
		verbs[target][r.verb] = true
	}
	type key struct{ verbs, name string }
	resources := map[key][]string{}
	for target, set := range verbs {
		k := key{strings.Join(slices.Sorted(maps.Keys(set)), ","), target.name}
		resources[k] = append(resources[k], target.String())
	}
	var out []Grant
	for k, list := range resources {
		slices.Sort(list)
		g := Grant{Verbs: strings.Split(k.verbs, ","), Resources: list}
		if k.name != "" {
			g.Names = []string{k.name}
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Grant) int {
		return cmp.Or(slices.Compare(a.Resources, b.Resources), slices.Compare(a.Names, b.Names), slices.Compare(a.Verbs, b.Verbs))
	})
	return out
}

// String returns the right's resource or URL, such as "deployments.apps" or "/metrics".
func (r Right) String() string {
	switch {
	case r.url != "":
		return r.url
	case r.group == "":
		return r.resource
	}
	return r.resource + "." + r.group
}
