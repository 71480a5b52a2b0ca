package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// forbidden matches the API server's message about a missing permission
// (Kubernetes 1.36): cannot patch resource "deployments" in API group "apps" in
// the namespace "shop".
var forbidden = regexp.MustCompile(`cannot (\w+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]*)")?`)

// lacks reports whether a dry run was refused for lack of a permission, and notes which one for
// checkAccess. A server-side apply that creates the object needs two.
func (b *builder) lacks(step *Step, r Refusal) bool {
	if r.kind() != ProblemPermission {
		return false
	}
	if step.Op == OpCreate && step.PatchType == types.ApplyPatchType {
		return b.missing(step.Object, r.Message, "create", "patch")
	}
	return b.missing(step.Object, r.Message)
}

// unread blocks on an object that can't be read. If a permission is missing, checkAccess reports it
// together with all others, and with what else the step needs. A rollback of a failed run leaves the object as it
// is; an uninstall does not, since nothing would remember the object.
func (b *builder) unread(step *Step, what, why, do string, verbs ...string) {
	b.noteOutage(step, what+why)
	switch {
	case b.in.Undoing && b.in.Operation == Rollback:
		b.leave(step, what+why)
	case b.in.ReadOnly || !b.missing(step.Object, why, verbs...): // ReadOnly: the identity that plans is not the one that applies
		b.block(ProblemPermission, step.Object, what+why, do)
	}
}

// missing notes for checkAccess the permission that the API server's answer says is missing, with
// verbs instead of the answer's own if any are given. It returns false if the answer names none.
func (b *builder) missing(id manifest.ID, answer string, verbs ...string) bool {
	m := forbidden.FindStringSubmatch(answer)
	if m == nil {
		return false
	}
	if len(verbs) == 0 {
		verbs = []string{m[1]}
	}
	for _, verb := range verbs {
		lacking := Permission{Verb: verb, Group: m[3], Resource: m[2], Namespace: m[4]}
		b.lacking = append(b.lacking, requiredPermission{Permission: lacking, object: id})
	}
	return true
}

// checkAccess turns missing permissions into problems: one for all that prevent applying, and one
// for each other consequence, no matter how many resources and objects are affected.
func (b *builder) checkAccess() {
	if b.in.ReadOnly && b.in.Applier == "" {
		return
	}
	b.plan.NoLock = b.in.Access.Denied[LockRenewal(b.in.lockNamespace(), b.in.LockName)]
	missing := b.lacking
	required := b.requiredPermissions()
	asked := make(map[Permission]bool, len(required))
	for _, n := range required {
		if asked[n.Permission] {
			continue
		}
		asked[n.Permission] = true
		b.questions.Permissions = append(b.questions.Permissions, n.Permission)
		if b.in.Access.Denied[n.Permission] {
			missing = append(missing, n)
		}
	}
	var consequences []string
	groups := map[string][]requiredPermission{}
	for _, n := range missing {
		if groups[n.otherwise] == nil {
			consequences = append(consequences, n.otherwise)
		}
		groups[n.otherwise] = append(groups[n.otherwise], n)
	}
	for _, otherwise := range consequences {
		b.problems(b.denial(groups[otherwise]))
	}
	if why := b.in.Access.Unchecked; why != "" {
		b.problems(Problem{Kind: ProblemPermission, What: "whether all of this is allowed could not be checked: " + why, Do: "go on, or check with kubectl auth can-i"})
	}
}

// denial returns the problem for missing permissions that share a consequence.
func (b *builder) denial(list []requiredPermission) Problem {
	var objects []string
	for _, n := range list {
		if name := n.object.String(); n.object.Name != "" && !slices.Contains(objects, name) {
			objects = append(objects, name)
		}
	}
	missing := missingRules(list)
	p := Problem{Kind: ProblemPermission, Blocking: list[0].otherwise == "" && (!b.in.Options.AsHelm || slices.ContainsFunc(list, reads)), What: "no permission to " + listed(missing), Do: roleWith(missing) + ", or use another identity (--as, --context)"}
	if b.in.Applier != "" {
		p.What, p.Do = b.in.Applier+" has "+p.What, roleWith(missing)
	}
	switch {
	case len(objects) == 1:
		p.Object = list[0].object
	case len(objects) > 1:
		const shown = 3
		p.What += ": " + strings.Join(objects[:min(shown, len(objects))], ", ")
		if more := len(objects) - shown; more > 0 {
			p.What += fmt.Sprintf(" and %d more", more)
		}
	}
	if otherwise := list[0].otherwise; otherwise != "" {
		p.What += "; " + otherwise
	}
	return p
}

// reads reports whether the permission is one to read: Helm reads before it records a revision.
func reads(p requiredPermission) bool {
	return p.Verb == "get" || p.Verb == "list" || p.Verb == "watch"
}

// missingRule holds verbs that are missing on each of its resources, in a namespace ("": the whole
// cluster).
type missingRule struct {
	namespace        string
	verbs, resources []string
}

// missingRules merges permissions into rules: resources of one namespace that lack the same verbs
// share a rule.
func missingRules(list []requiredPermission) []missingRule {
	var single []missingRule // one resource each
	for _, n := range list {
		i := slices.IndexFunc(single, func(r missingRule) bool { return r.namespace == n.Namespace && r.resources[0] == n.resource() })
		if i < 0 {
			i = len(single)
			single = append(single, missingRule{namespace: n.Namespace, resources: []string{n.resource()}})
		}
		single[i].verbs = with(single[i].verbs, n.Verb)
	}
	var out []missingRule
	for _, r := range single {
		i := slices.IndexFunc(out, func(o missingRule) bool { return o.namespace == r.namespace && slices.Equal(o.verbs, r.verbs) })
		if i < 0 {
			out = append(out, r)
			continue
		}
		out[i].resources = with(out[i].resources, r.resources...)
	}
	slices.SortStableFunc(out, func(a, b missingRule) int { return cmp.Compare(a.namespace, b.namespace) })
	return out
}

// with returns the list with more added, sorted and without duplicates.
func with(list []string, more ...string) []string {
	list = append(list, more...)
	slices.Sort(list)
	return slices.Compact(list)
}

// listed formats rules: "create, patch configmaps and services; to update secrets in namespace
// shop".
func listed(rules []missingRule) string {
	var b strings.Builder
	for i, r := range rules {
		if i > 0 {
			b.WriteString("; to ")
		}
		last := len(r.resources) - 1
		resources := r.resources[last]
		if last > 0 {
			resources = strings.Join(r.resources[:last], ", ") + " and " + resources
		}
		b.WriteString(strings.Join(r.verbs, ", ") + " " + resources)
		if i == len(rules)-1 || rules[i+1].namespace != r.namespace {
			b.WriteString(" " + where(r.namespace))
		}
	}
	return b.String()
}

// resource returns the resource as kubectl writes it: "deployments.apps".
func (p Permission) resource() string {
	if p.Group == "" {
		return p.Resource
	}
	return p.Resource + "." + p.Group
}

func where(namespace string) string {
	if namespace == "" {
		return "in the cluster"
	}
	return "in namespace " + namespace
}

// RoleFor returns what to ask an administrator for, given the API server's message when it refused
// a request; "" if the message is not about a missing permission.
func RoleFor(answer string) string {
	m := forbidden.FindStringSubmatch(answer)
	if m == nil {
		return ""
	}
	resource := Permission{Group: m[3], Resource: m[2]}.resource()
	return roleWith([]missingRule{{namespace: m[4], verbs: []string{m[1]}, resources: []string{resource}}})
}

// roleWith returns what to ask an administrator for: one role. kubectl create role can't give
// different verbs for different resources, so the role may grant more than is missing.
func roleWith(rules []missingRule) string {
	var verbs, resources []string
	role, note := "role NAME --namespace "+rules[0].namespace, ""
	for _, r := range rules {
		verbs, resources = with(verbs, r.verbs...), with(resources, r.resources...)
		if r.namespace == "" || r.namespace != rules[0].namespace {
			role = "clusterrole NAME"
		}
		if !slices.Equal(r.verbs, rules[0].verbs) {
			note = ", each verb on each resource"
		}
	}
	return fmt.Sprintf("ask for a role that grants it%s (kubectl create %s --verb %s --resource %s)",
		note, role, strings.Join(verbs, ","), strings.Join(resources, ","))
}
