package plan

import (
	"fmt"
	"slices"
	"strings"
)

// checkAccess makes problems of what is denied: one for each resource and
// namespace, whatever the number of objects.
func (b *builder) checkAccess() {
	b.plan.NoLock = b.in.Access.Denied[LockRenewal(b.in.Release.Namespace, b.in.LockName)]
	var denied [][]requiredPermission
	index := map[string]int{}
	asked := map[Permission]bool{}
	for _, n := range b.requiredPermissions() {
		if asked[n.Permission] {
			continue
		}
		asked[n.Permission] = true
		b.questions.Permissions = append(b.questions.Permissions, n.Permission)
		if !b.in.Access.Denied[n.Permission] {
			continue
		}
		key := strings.Join([]string{n.Group, n.Resource, n.Namespace, n.otherwise}, "\n")
		i, known := index[key]
		if !known {
			i = len(denied)
			index[key] = i
			denied = append(denied, nil)
		}
		denied[i] = append(denied[i], n)
	}
	for _, group := range denied {
		b.problems(denial(group))
	}
	if why := b.in.Access.Unchecked; why != "" {
		b.problems(Problem{Kind: ProblemPermission, What: "whether all of this is allowed could not be asked: " + why, Do: "go on, or ask with kubectl auth can-i"})
	}
}

// denial is the problem of permissions on one resource.
func denial(group []requiredPermission) Problem {
	var verbs, objects []string
	for _, n := range group {
		if !slices.Contains(verbs, n.Verb) {
			verbs = append(verbs, n.Verb)
		}
		if name := n.object.String(); n.object.Name != "" && !slices.Contains(objects, name) {
			objects = append(objects, name)
		}
	}
	first := group[0]
	what := fmt.Sprintf("no permission to %s %s %s", strings.Join(verbs, ", "), first.resource(), first.where())
	p := Problem{Kind: ProblemPermission, Blocking: first.otherwise == "", What: what, Do: roleWith(first.Permission, verbs)}
	switch {
	case len(objects) == 1:
		p.Object = first.object
	case len(objects) > 1:
		const shown = 3
		p.What += ": " + strings.Join(objects[:min(shown, len(objects))], ", ")
		if more := len(objects) - shown; more > 0 {
			p.What += fmt.Sprintf(" and %d more", more)
		}
	}
	if first.otherwise != "" {
		p.What += "; " + first.otherwise
	}
	return p
}

// resource is "deployments.apps", as kubectl has it.
func (p Permission) resource() string {
	if p.Group == "" {
		return p.Resource
	}
	return p.Resource + "." + p.Group
}

func (p Permission) where() string {
	if p.Namespace == "" {
		return "in the cluster"
	}
	return "in namespace " + p.Namespace
}

// roleWith is what to ask an administrator for.
func roleWith(p Permission, verbs []string) string {
	role := "role NAME --namespace " + p.Namespace
	if p.Namespace == "" {
		role = "clusterrole NAME"
	}
	return fmt.Sprintf("ask for a role with it (kubectl create %s --verb %s --resource %s), or use another identity (--as, --context)", role, strings.Join(verbs, ","), p.resource())
}
