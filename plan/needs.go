package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Needs returns the objects for want of which the API server may refuse the step's object: what a Pod names, and
// the role of a binding, whose rules it looks up for those who may not bind every role (Kubernetes 1.36.3:
// plugin/pkg/admission/serviceaccount/admission.go, plugin/pkg/admission/priority/admission.go,
// plugin/pkg/admission/runtimeclass/admission.go, pkg/registry/rbac/rolebinding/policybased/storage.go,
// pkg/registry/rbac/clusterrolebinding/policybased/storage.go).
func (s *Step) Needs() []manifest.ID {
	if s.Body == nil {
		return nil
	}
	field := func(path ...string) string {
		text, _, _ := unstructured.NestedString(s.Body.Object, path...)
		return text
	}
	named := func(gk schema.GroupKind, name string) manifest.ID {
		return manifest.ID{Group: gk.Group, Kind: gk.Kind, Name: name}
	}
	var needs []manifest.ID
	switch s.Object.GroupKind() {
	case kinds.Pod:
		account := named(kinds.ServiceAccount, cmp.Or(field("spec", "serviceAccountName"), field("spec", "serviceAccount")))
		account.Namespace = s.Object.Namespace
		needs = append(needs, account, named(kinds.PriorityClass, field("spec", "priorityClassName")), named(kinds.RuntimeClass, field("spec", "runtimeClassName")))
	case kinds.RoleBinding, kinds.ClusterRoleBinding:
		role := named(schema.GroupKind{Group: cmp.Or(field("roleRef", "apiGroup"), kinds.Role.Group), Kind: field("roleRef", "kind")}, field("roleRef", "name"))
		if role.GroupKind() == kinds.Role {
			role.Namespace = s.Object.Namespace
		}
		needs = append(needs, role)
	}
	return slices.DeleteFunc(needs, func(id manifest.ID) bool { return id.Name == "" })
}

// awaited says what this plan does before the step for want of which the API server refuses it: which object it
// creates, or which one gives up what it takes over; "" if the API server refuses the step for another reason.
func (b *builder) awaited(s *Step, r Refusal) string {
	if why := b.freed(s, r); why != "" {
		return why
	}
	missing := r.Reason == "NotFound" || r.Reason == "Forbidden" && !byAdmission(r) && !r.exceedsQuota() && !forbidden.MatchString(r.Message)
	_, why, names := strings.Cut(r.Message, " is forbidden: ") // the object itself, first
	if !names {
		why = r.Message
	}
	for _, id := range s.Needs() {
		if missing && strings.Contains(why, id.Name) && b.bringsBefore(id, s.Object) {
			return fmt.Sprintf("the %s %s comes with this plan", id.Kind, id.Name)
		}
	}
	return ""
}

// bringsBefore reports whether this plan creates an object, which does not exist, before it sends one of the
// resources: in an earlier wave, or as a hook that leaves it.
func (b *builder) bringsBefore(id, resource manifest.ID) bool {
	if live := b.live(id); live.Object != nil || live.Unreadable != "" {
		return false
	}
	wave := func(id manifest.ID) int { return kinds.Named(id.Kind).Tiers.Install() }
	return b.wants(id) && wave(id) < wave(resource) || b.hookBrings(id)
}
