package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Needs returns the objects for want of which the API server may refuse the step's object: what a Pod names, and
// the role of a binding, whose rules it looks up for those who may not bind every role (Kubernetes 1.36.3:
// plugin/pkg/admission/serviceaccount/admission.go, plugin/pkg/admission/priority/admission.go,
// plugin/pkg/admission/runtimeclass/admission.go, pkg/registry/rbac/rolebinding/policybased/storage.go,
// pkg/registry/rbac/clusterrolebinding/policybased/storage.go), the class of a claim, which says whether the claim
// may grow (plugin/pkg/admission/storage/persistentvolume/resize/admission.go), and the policy of a binding, which says
// what may be its parameters (pkg/registry/admissionregistration/validatingadmissionpolicybinding/authz.go).
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
	case kinds.PersistentVolumeClaim:
		needs = append(needs, named(kinds.StorageClass, field("spec", "storageClassName")))
	case kinds.MutatingAdmissionPolicyBinding:
		needs = append(needs, named(kinds.MutatingAdmissionPolicy, field("spec", "policyName")))
	case kinds.ValidatingAdmissionPolicyBinding:
		needs = append(needs, named(kinds.ValidatingAdmissionPolicy, field("spec", "policyName")))
	case kinds.RoleBinding, kinds.ClusterRoleBinding:
		role := named(schema.GroupKind{Group: cmp.Or(field("roleRef", "apiGroup"), kinds.Role.Group), Kind: field("roleRef", "kind")}, field("roleRef", "name"))
		if role.GroupKind() == kinds.Role {
			role.Namespace = s.Object.Namespace
		}
		needs = append(needs, role)
	}
	return slices.DeleteFunc(needs, func(id manifest.ID) bool { return id.Name == "" })
}

// Heeds reports whether what the API server says about the step's object may depend on another object: on one that
// it Needs, or on one that limits what its namespace may hold (Kubernetes 1.36.3,
// k8s.io/apiserver/pkg/admission/plugin/resourcequota/admission.go, plugin/pkg/admission/limitranger/admission.go,
// and plugin/pkg/admission/security/podsecurity/admission.go, which looks at the labels of the namespace).
func (s *Step) Heeds(id manifest.ID) bool {
	if s.Object.Namespace != "" {
		switch id.GroupKind() {
		case kinds.ResourceQuota, kinds.LimitRange:
			return id.Namespace == s.Object.Namespace
		case kinds.Namespace:
			return id.Name == s.Object.Namespace
		}
	}
	return slices.Contains(s.Needs(), id)
}

// awaited says what this plan does before the step for want of which the API server refuses it: which object it
// creates or changes, or which one gives up what it takes over; "" if the API server refuses the step for another
// reason.
func (b *builder) awaited(s *Step, r Refusal) string {
	if why := b.freed(s, r); why != "" {
		return why
	}
	for _, id := range b.wanting(s, r) {
		if why := b.comesBefore(id, s, relaxes); why != "" {
			b.waits[s.ID] = id
			return why
		}
	}
	return ""
}

// ofQuota matches the API server's message about a quota that an object exceeds, or for which it says too little
// (Kubernetes 1.36.3, k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest).
var ofQuota = regexp.MustCompile(`(?:exceeded|failed) quota: ([^,:]+)`)

// wanting returns the objects that the API server may miss, or find too strict, when it refuses a step.
func (b *builder) wanting(s *Step, r Refusal) (found []manifest.ID) {
	in := func(gk schema.GroupKind, name string) manifest.ID {
		return manifest.ID{Group: gk.Group, Kind: gk.Kind, Namespace: s.Object.Namespace, Name: name}
	}
	quota := ofQuota.FindStringSubmatch(r.Message)
	switch {
	case r.Reason != "Forbidden" && r.Reason != "NotFound" && !r.says("unable to get policy"), forbidden.MatchString(r.Message), byPolicy(r):
	case r.says("violates PodSecurity"):
		found = append(found, NamespaceID(s.Object.Namespace))
	case byAdmission(r), quota != nil: // a LimitRange refuses it, or may give it what the quota wants
		if quota != nil {
			found = append(found, in(kinds.ResourceQuota, quota[1]))
		}
		for _, o := range b.in.Target.Objects {
			if o.ID == in(kinds.LimitRange, o.Name) && !r.exceedsQuota() && (b.live(o.ID).Object != nil || r.wantsDefaults()) {
				found = append(found, o.ID)
			}
		}
	default:
		_, why, names := strings.Cut(r.Message, " is forbidden: ") // the object itself, first
		if !names {
			why = r.Message
		}
		for _, id := range s.Needs() {
			if named(id, why) || id.GroupKind() == kinds.StorageClass && r.unexpandable() {
				found = append(found, id)
			}
		}
	}
	return found
}

// named reports whether a message is about an object: 'serviceaccount "web" not found', 'no PriorityClass with name
// web was found', 'roles.rbac.authorization.k8s.io "web" not found', "unable to get policy web to determine". Objects of
// other kinds may have the same name.
func named(id manifest.ID, message string) bool {
	kind := regexp.QuoteMeta(strings.ToLower(id.Kind))
	if strings.HasSuffix(kind, "policy") {
		kind = "policy"
	}
	return regexp.MustCompile(`(?i:\b` + kind + `\S*)(?: with name)? "?` + regexp.QuoteMeta(id.Name) + `(?:["\s]|$)`).MatchString(message)
}

// wantsDefaults reports whether the API server refuses a Pod only because it says nothing of some amount, for which a
// new LimitRange may set a default. It lifts no limit of another one.
func (r Refusal) wantsDefaults() bool {
	return r.says("must specify", "is specified") && !r.says(", but limit is ", ", but request is ", "but provided ratio is ")
}

// comesBefore says what this plan does with an object before it sends one of the resources: it creates the object,
// which does not exist, also as a hook that leaves it, or makes a change of it that counts; "" if it does not.
func (b *builder) comesBefore(id manifest.ID, s *Step, counts func(fielddiff.Change) bool) string {
	live, after := b.live(id), b.in.Predictions[stepID(StageResources, id)].After
	switch {
	case live.Unreadable != "":
	case live.Object == nil && (b.sentBefore(id, s) || b.hookBrings(id)):
		return fmt.Sprintf("the %s %s comes with this plan", id.Kind, id.Name)
	case live.Object != nil && b.sentBefore(id, s) && after != nil && slices.ContainsFunc(fielddiff.Compare(live.content(), after.Object), counts):
		return fmt.Sprintf("this plan changes the %s %s first", id.Kind, id.Name)
	}
	return ""
}

// podSecurity begins the labels of Pod Security, enforced those of a namespace by which it refuses Pods
// (k8s.io/pod-security-admission/api/constants.go).
const (
	podSecurity = "pod-security.kubernetes.io/"
	enforced    = "metadata.labels[" + podSecurity + "enforce"
)

// decides reports whether a change of a LimitRange or a namespace may alter what the API server makes of a Pod.
func decides(c fielddiff.Change) bool {
	return within(c.Path, "spec.limits") || strings.HasPrefix(c.Path, enforced)
}

// relaxes reports whether a change of an object may make the API server accept what it has refused: a larger amount or
// a smaller minimum, a laxer level of Pod Security, a class that lets claims grow. What else an object says, the API
// server does not read when it admits others.
func relaxes(c fielddiff.Change) bool {
	switch {
	case c.Path == "allowVolumeExpansion":
		return c.To == true
	case c.Path == enforced+"]":
		levels := []any{"privileged", "baseline", "restricted"}
		unlabelled := c.From == nil && c.To != "restricted" // the level was the cluster's default, which may be any
		return c.To == nil || unlabelled || slices.Index(levels, c.To) < slices.Index(levels, c.From)
	case within(c.Path, "spec.hard") && c.Op == fielddiff.Added, !decides(c) && !within(c.Path, "spec.hard"):
		return false
	}
	from, fromErr := resource.ParseQuantity(fmt.Sprint(c.From))
	to, toErr := resource.ParseQuantity(fmt.Sprint(c.To))
	switch {
	case fromErr != nil, toErr != nil, within(c.Path, "spec.limits") && strings.Contains(c.Path, ".default"):
		return true
	case within(c.Path, "spec.limits") && strings.Contains(c.Path, ".min"):
		return to.Cmp(from) < 0
	}
	return to.Cmp(from) > 0
}

// sentBefore reports whether one of the resources is sent before another, which awaits it: see rank.
func (b *builder) sentBefore(id manifest.ID, s *Step) bool {
	first, then := installTier(id), installTier(s.Object)
	return b.wants(id) && (first < then || first == then && s.Heeds(id))
}

// judgedAnew says what this plan does before a Pod by which the API server may complete or refuse it otherwise than in
// the dry run: what limits its containers, or how strict Pod Security is. A quota does not change an object, and is
// summed up by checkQuotas.
func (b *builder) judgedAnew(s *Step) string {
	if s.Object.GroupKind() != kinds.Pod {
		return ""
	}
	for _, o := range b.in.Target.Objects {
		if gk := o.GroupKind(); gk != kinds.LimitRange && gk != kinds.Namespace || !s.Heeds(o.ID) {
			continue
		}
		if why := b.comesBefore(o.ID, s, decides); why != "" {
			return why
		}
	}
	return ""
}

// missingNeed returns what a step's object needs and the API server does not find.
func (b *builder) missingNeed(s *Step, r Refusal) (id manifest.ID, missing bool) {
	for _, id := range b.wanting(s, r) {
		if r.says("not found", "was found") && slices.Contains(s.Needs(), id) {
			return id, true
		}
	}
	return manifest.ID{}, false
}
