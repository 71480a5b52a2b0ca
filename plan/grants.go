package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// AccessChange is the difference between what a role or binding grants before and after the plan.
type AccessChange struct {
	Object manifest.ID `json:"object"`
	Change ChangeKind  `json:"change"`
	// Gained and Lost are the rights that a role adds and removes.
	Gained []Grant `json:"gained,omitempty"`
	Lost   []Grant `json:"lost,omitempty"`
	// Role is the role that a binding grants, for example "ClusterRole/view". Subjects are those
	// that gain it, such as "ServiceAccount/web", and Removed those that lose it.
	Role     string   `json:"role,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	Removed  []string `json:"removed,omitempty"`
}

// Grant is a set of verbs on resources such as "deployments.apps", or on URLs of the API server
// such as "/metrics". Names limits it to single objects.
type Grant struct {
	Verbs     []string `json:"verbs"`
	Resources []string `json:"resources"`
	Names     []string `json:"names,omitempty"`
}

// access returns how the step changes the permissions that RBAC grants.
func (b *builder) access(s *Step) []AccessChange {
	gk := s.Object.GroupKind()
	before, after := b.around(s)
	if before == nil && after == nil {
		return nil
	}
	change := AccessChange{Object: s.Object, Change: Changed}
	switch {
	case before == nil:
		change.Change = Created
	case after == nil:
		change.Change = Deleted
	}
	switch gk {
	case kinds.Role, kinds.ClusterRole:
		had, has := granted(before), granted(after)
		change.Gained, change.Lost = beyond(has, had), beyond(had, has)
	case kinds.RoleBinding, kinds.ClusterRoleBinding:
		return change.bound(before, after, b.in.Release.Namespace)
	default:
		return nil
	}
	if len(change.Gained)+len(change.Lost) == 0 {
		return nil
	}
	return []AccessChange{change}
}

// power ranks how far-reaching the gained rights are, from 0 to 3. Lost rights do not count.
func (c AccessChange) power() int {
	power := 0
	for _, g := range c.Gained {
		all := slices.Contains(g.Verbs, "*") || slices.ContainsFunc(g.Verbs, func(v string) bool { return v == "escalate" || v == "bind" || v == "impersonate" })
		every := slices.ContainsFunc(g.Resources, func(r string) bool { return strings.HasPrefix(r, "*") })
		switch {
		case all && every:
			power = max(power, 3)
		case all, every, slices.Contains(g.Resources, "secrets"):
			power = max(power, 2)
		default:
			power = max(power, 1)
		}
	}
	if len(c.Subjects) > 0 {
		return max(power, 1)
	}
	return power
}

// around returns the object before and after the step; for a hook that is created, the object from
// the last deployed revision and the one that runs.
func (b *builder) around(s *Step) (before, after *unstructured.Unstructured) {
	switch {
	case s.InPlace():
		return s.Before, s.outcome()
	case s.Op == OpRun:
		if last, known := b.lastHooks()[hookKey{s.Hook.Event, s.Object}]; known {
			before = last.Doc
		}
		return before, s.Body
	case s.Op == OpDelete && !s.HookDeletion():
		return s.Before, nil
	case s.Writes():
		return s.Before, s.outcome()
	}
	return nil, nil
}

// right is one verb on one resource or URL; a name limits it to a single object.
type right struct{ verb, group, resource, name, url string }

// granted returns the rights that a role grants.
func granted(role *unstructured.Unstructured) []right {
	var of struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	}
	if role == nil || !typed(role, &of) {
		return nil
	}
	var out []right
	for _, rule := range of.Rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				out = append(out, right{verb: verb, url: url})
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range names {
						out = append(out, right{verb, group, resource, name, ""})
					}
				}
			}
		}
	}
	return out
}

// beyond returns the rights in list that other does not cover, grouped by verbs and name.
func beyond(list, other []right) []Grant {
	given := map[right]bool{}
	for _, r := range other {
		given[r] = true
	}
	verbs := map[right]map[string]bool{} // by resource and name
	for _, r := range list {
		if given[r] || slices.ContainsFunc(other, func(o right) bool { return o.covers(r) }) {
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

// covers reports whether the right includes another one, following RBAC's wildcards
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/apis/rbac/v1/evaluation_helpers.go).
func (r right) covers(o right) bool {
	all := func(has, wanted string) bool { return has == "*" || has == wanted }
	url := r.url == o.url || strings.HasSuffix(r.url, "*") && strings.HasPrefix(o.url, strings.TrimSuffix(r.url, "*"))
	return (r.url == "") == (o.url == "") && all(r.verb, o.verb) && all(r.group, o.group) && r.coversResource(o.resource) &&
		(r.name == "" || r.name == o.name) && url
}

func (r right) coversResource(resource string) bool {
	_, sub, has := strings.Cut(resource, "/")
	return r.resource == "*" || r.resource == resource || has && r.resource == "*/"+sub
}

// String returns the right's resource or URL, such as "deployments.apps" or "/metrics".
func (r right) String() string {
	switch {
	case r.url != "":
		return r.url
	case r.group == "":
		return r.resource
	}
	return r.resource + "." + r.group
}

// bound returns the change of a binding, with the role and the subjects that gain and lose it. A
// binding's roleRef is immutable
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example): one that
// is recreated with another role takes the old one from all of its subjects.
func (c AccessChange) bound(before, after *unstructured.Unstructured, namespace string) []AccessChange {
	was, had := binding(before, namespace)
	is, has := binding(after, namespace)
	if was != "" && is != "" && was != is {
		return append(c.of(was, had, nil), c.of(is, nil, has)...)
	}
	return c.of(cmp.Or(is, was), had, has)
}

// of returns the change of a binding that gives a role to other subjects, nil if they are the same.
func (c AccessChange) of(role string, had, has []string) []AccessChange {
	c.Role = role
	c.Subjects = slices.DeleteFunc(slices.Clone(has), func(s string) bool { return slices.Contains(had, s) })
	c.Removed = slices.DeleteFunc(slices.Clone(had), func(s string) bool { return slices.Contains(has, s) })
	if len(c.Subjects)+len(c.Removed) == 0 {
		return nil
	}
	return []AccessChange{c}
}

// binding returns a binding's role and subjects. Subjects from other namespaces are shown with their
// namespace.
func binding(doc *unstructured.Unstructured, namespace string) (role string, subjects []string) {
	var of rbacv1.RoleBinding
	if doc == nil || !typed(doc, &of) {
		return "", nil
	}
	for _, s := range of.Subjects {
		name := s.Kind + "/" + s.Name
		if s.Namespace != "" && s.Namespace != namespace {
			name += " (namespace " + s.Namespace + ")"
		}
		subjects = append(subjects, name)
	}
	return of.RoleRef.Kind + "/" + of.RoleRef.Name, subjects
}
