package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// coverage finds out whether any of many rights includes another one, following RBAC's wildcards
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/apis/rbac/v1/evaluation_helpers.go). It
// looks up the few rights that could instead of comparing with each.
type coverage struct {
	rights map[Right]bool
	// prefixes holds what the URLs with a wildcard begin with, by verb: sorted, and without those that
	// begin with another one. Then only the last that comes before a URL can be a prefix of it.
	prefixes map[string][]string
}

func newCoverage(rights []Right) coverage {
	c := coverage{map[Right]bool{}, map[string][]string{}}
	for _, r := range rights {
		c.rights[r] = true
		if prefix, ok := strings.CutSuffix(r.url, "*"); ok {
			c.prefixes[r.verb] = append(c.prefixes[r.verb], prefix)
		}
	}
	for verb, all := range c.prefixes {
		slices.Sort(all)
		kept := all[:1]
		for _, p := range all[1:] {
			if !strings.HasPrefix(p, kept[len(kept)-1]) {
				kept = append(kept, p)
			}
		}
		c.prefixes[verb] = kept
	}
	return c
}

func (c coverage) covers(r Right) bool {
	if c.rights[r] {
		return true
	}
	resources := []string{r.resource, "*"}
	if _, sub, has := strings.Cut(r.resource, "/"); has {
		resources = append(resources, "*/"+sub)
	}
	for _, verb := range [...]string{r.verb, "*"} {
		if r.url != "" {
			if c.rights[Right{verb: verb, url: r.url}] || c.coversURL(verb, r.url) {
				return true
			}
			continue
		}
		for _, group := range [...]string{r.group, "*"} {
			for _, resource := range resources {
				for _, name := range [...]string{r.name, ""} {
					if c.rights[Right{verb, group, resource, name, ""}] {
						return true
					}
				}
			}
		}
	}
	return false
}

func (c coverage) coversURL(verb, url string) bool {
	prefixes := c.prefixes[verb]
	i, found := slices.BinarySearch(prefixes, url)
	return found || i > 0 && strings.HasPrefix(url, prefixes[i-1])
}

// ruleCoverage finds out whether one rule includes another one, list by list.
type ruleCoverage struct {
	verbs, groups, resources, names map[string]bool
	urls                            coverage
}

func newRuleCoverage(r rbacv1.PolicyRule) ruleCoverage {
	c := ruleCoverage{setOf(r.Verbs), setOf(r.APIGroups), setOf(r.Resources), setOf(r.ResourceNames), coverage{}}
	c.urls = newCoverage(Rights([]rbacv1.PolicyRule{{Verbs: []string{""}, NonResourceURLs: r.NonResourceURLs}}))
	return c
}

func (c ruleCoverage) covers(r rbacv1.PolicyRule) bool {
	each := func(list []string, covered func(string) bool) bool {
		return !slices.ContainsFunc(list, func(item string) bool { return !covered(item) })
	}
	resource := func(name string) bool {
		_, sub, has := strings.Cut(name, "/")
		return c.resources[name] || c.resources["*"] || has && c.resources["*/"+sub]
	}
	return each(r.Verbs, func(v string) bool { return c.verbs[v] || c.verbs["*"] }) &&
		each(r.APIGroups, func(g string) bool { return c.groups[g] || c.groups["*"] }) && each(r.Resources, resource) &&
		(len(c.names) == 0 || len(r.ResourceNames) > 0 && each(r.ResourceNames, func(n string) bool { return c.names[n] })) &&
		each(r.NonResourceURLs, func(url string) bool { return c.urls.covers(Right{url: url}) })
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, item := range list {
		set[item] = true
	}
	return set
}
