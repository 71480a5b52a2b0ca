package report

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/plan"
)

// access returns lines such as "ClusterRole/web gains get/list secrets" and "RoleBinding/web gives
// Role/web to ServiceAccount/web". The subjects of a new role are on the role's line.
func (w impactWriter) access(changes []plan.AccessChange) []string {
	subjects := map[string][]string{} // of new roles
	for _, c := range changes {
		if key := roleKey(c); c.Role != "" {
			subjects[key] = append(subjects[key], c.Subjects...)
		}
	}
	made := map[string]bool{}
	for _, c := range changes {
		made[roleKey(c)] = made[roleKey(c)] || c.Role == "" && c.Change == plan.Created
	}
	var out []string
	for _, c := range changes {
		switch {
		case c.Role == "":
			out = append(out, w.role(c, subjects[roleKey(c)]))
		case made[roleKey(c)] && !w.view.full:
		default:
			out = append(out, w.binding(c)...)
		}
	}
	return out
}

// roleKey identifies the role that a change is about. A Role is in the namespace of its binding.
func roleKey(c plan.AccessChange) string {
	role, namespace := c.Role, c.Object.Namespace
	if role == "" {
		role = c.Object.Kind + "/" + c.Object.Name
	}
	if strings.HasPrefix(role, "ClusterRole/") {
		namespace = ""
	}
	return namespace + " " + role
}

func (w impactWriter) role(c plan.AccessChange, subjects []string) string {
	name, limit := w.names.name(c.Object), w.limit(100)
	var parts []string
	add := func(verb string, grants []plan.Grant) {
		if len(grants) > 0 {
			parts = append(parts, verb+" "+cut(grantsText(grants), limit))
		}
	}
	switch c.Change {
	case plan.Created:
		whose := ""
		if len(subjects) > 0 && !w.view.full {
			whose = ", for " + escape.Line(list(subjects, w.limit(3)))
		}
		add("is new"+whose+": it may", c.Gained)
	case plan.Deleted:
		add("is removed: it could", c.Lost)
	case plan.Changed, plan.Left:
		add("gains", c.Gained)
		add("loses", c.Lost)
	}
	return name + " " + strings.Join(parts, "; ")
}

func (w impactWriter) binding(c plan.AccessChange) []string {
	gives, takes := w.names.name(c.Object)+" gives "+escape.Line(c.Role)+" to ", w.names.name(c.Object)+" takes "+escape.Line(c.Role)+" from "
	if c.Object.GroupKind() == kinds.ClusterRole { // see plan.AccessChange.Role
		gives, takes = escape.Line(c.Role)+" is added to ", escape.Line(c.Role)+" is taken out of "
	}
	var out []string
	for _, l := range []struct {
		text     string
		subjects []string
	}{{gives, c.Subjects}, {takes, c.Removed}} {
		if len(l.subjects) > 0 {
			out = append(out, l.text+escape.Line(list(l.subjects, w.limit(3))))
		}
	}
	return out
}

// grantsText returns text such as "get/list configmaps, secrets; create pods (web)".
func grantsText(grants []plan.Grant) string {
	parts := make([]string, len(grants))
	for i, g := range grants {
		verbs, resources := strings.Join(g.Verbs, "/"), strings.Join(g.Resources, ", ")
		if verbs == "*" {
			verbs = "do anything with"
		}
		if slices.Contains(g.Resources, "*.*") {
			resources = "all resources"
		}
		parts[i] = verbs + " " + resources
		if len(g.Names) > 0 {
			parts[i] += " (" + strings.Join(g.Names, ", ") + ")"
		}
	}
	return escape.Line(strings.Join(parts, "; "))
}
