package plan

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/rbac"
)

// AccessChange is the difference between what a role or binding grants before and after the plan.
type AccessChange struct {
	Object manifest.ID `json:"object"`
	Change ChangeKind  `json:"change"`
	// Gained and Lost are the rights that a role adds and removes.
	Gained []Grant `json:"gained,omitempty"`
	Lost   []Grant `json:"lost,omitempty"`
	// Role is the role that a binding grants, for example "ClusterRole/view". Subjects are those
	// that gain it, such as "ServiceAccount/web", and Removed those that lose it. A ClusterRole that is added to others
	// by a label has itself as Role and those, such as "ClusterRole/view", as Subjects; one with an aggregationRule has
	// "every ClusterRole with a=b" as Role and itself as Subject.
	Role     string   `json:"role,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	Removed  []string `json:"removed,omitempty"`
}

// Grant is a set of verbs on resources such as "deployments.apps", or on URLs of the API server
// such as "/metrics". Names limits it to single objects. Of a role whose rights are too many to list
// (see listsRights) it is a whole rule, with at most a hundred of its resources and then an entry such as
// "and 900 more".
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
	var aggregated []AccessChange
	switch gk {
	case kinds.Role, kinds.ClusterRole:
		if gk == kinds.ClusterRole {
			aggregated = change.aggregated(before, after)
		}
		had, has := rulesOf(before), rulesOf(after)
		beyond := rbac.RulesBeyond
		if b.listsRights(rbac.Size(had) + rbac.Size(has)) {
			beyond = rightsBeyond
		}
		change.Gained, change.Lost = grants(beyond(has, had)), grants(beyond(had, has))
	case kinds.RoleBinding, kinds.ClusterRoleBinding:
		return change.bound(before, after, b.in.Release.Namespace)
	default:
		return nil
	}
	if len(change.Gained)+len(change.Lost) == 0 {
		return aggregated
	}
	return append([]AccessChange{change}, aggregated...)
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

// Limits on the rights that a plan lists one by one: of further roles it compares whole rules.
const (
	// maxRights limits those of all large roles together.
	maxRights = 50_000
	// smallRole is how many rights, before and after, a small role has: the largest of real charts have a few
	// hundred.
	smallRole = 2_000
	// maxSmallRights limits those of all small roles together, so that large ones do not use them up.
	maxSmallRights = 500_000
)

// listsRights reports whether the rights of a role, of that size before and after, are listed one by one,
// and counts them.
func (b *builder) listsRights(size int) bool {
	spent, most := &b.rights, maxRights
	if size <= smallRole {
		spent, most = &b.smallRights, maxSmallRights
	}
	if *spent+size > most {
		return false
	}
	*spent += size
	return true
}

// rulesOf returns the rules of a role.
func rulesOf(role *unstructured.Unstructured) []rbacv1.PolicyRule {
	var of struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	}
	if role == nil || !apitypes.Typed(role, &of) {
		return nil
	}
	return of.Rules
}

// rightsBeyond returns the rights in list that other does not cover.
func rightsBeyond(list, other []rbacv1.PolicyRule) []rbac.Grant {
	return rbac.Beyond(rbac.Rights(list), rbac.Rights(other))
}

func grants(list []rbac.Grant) []Grant {
	var out []Grant
	for _, g := range list {
		out = append(out, Grant(g))
	}
	return out
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
	if doc == nil || !apitypes.Typed(doc, &of) {
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
