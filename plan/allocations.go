package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// holders returns which live Services have the allocations.
func (b *builder) holders() map[string]manifest.ID {
	out := map[string]manifest.ID{}
	for id, live := range b.in.Live {
		if id.GroupKind() == kinds.Service {
			for _, what := range allocations(live.content()) {
				out[what] = id
			}
		}
	}
	return out
}

// takes returns what a Service takes over; nothing if it also wants what another one keeps.
func (b *builder) takes(o manifest.Object, holders map[string]manifest.ID) []taking {
	var out []taking
	for _, what := range allocations(o.Doc.Object) {
		switch from, held := holders[what]; {
		case !held || from == o.ID:
		case !b.givesUp(from, what):
			return nil
		default:
			out = append(out, taking{what, from})
		}
	}
	return out
}

// givesUp reports whether a Service no longer has an allocation after this plan.
func (b *builder) givesUp(id manifest.ID, what string) bool {
	i, wanted := b.targets[id]
	if !wanted {
		return b.goes(id)
	}
	o, live := b.in.Target.Objects[i], b.live(id).Object
	answer := b.in.Predictions[stepID(StageResources, id)]
	switch {
	case answer.After != nil:
		return !slices.Contains(allocations(answer.After.Object), what)
	case answer.Refused != nil && answer.Refused.Immutable && b.mayReplace(id, live): // one that is created anew has none to carry over
		return !slices.Contains(allocations(o.Doc.Object), what)
	}
	var was, after corev1.Service
	estimate, err := b.estimateOf(o)
	return err == nil && apitypes.Typed(live, &was) && apitypes.Typed(estimate, &after) && !slices.Contains(kept(&was, &after), what)
}

// estimateOf estimates what becomes of a live object.
func (b *builder) estimateOf(o manifest.Object) (*unstructured.Unstructured, error) {
	stored, _ := b.storedObject(o.ID)
	live := b.live(o.ID).Object
	step := Step{ID: stepID(StageResources, o.ID), Object: o.ID, APIVersion: apiVersion(o.Group, o.Version), Body: b.sent(o.Doc), Before: live}
	step.MigrateOwnership = b.migrateOwnership(o.ID, stored, live)
	return b.applied(&step, stored, live)
}

// kept returns what a Service has after a change of which only an estimate is known. As long as its type has such a
// thing, the API server carries over what the Service does not mention, a node port by the port's name (Kubernetes
// 1.36.3, pkg/registry/core/service/storage/storage.go, patchAllocatedValues).
func kept(was, after *corev1.Service) []string {
	var out []string
	spec := &after.Spec
	switch {
	case spec.Type == corev1.ServiceTypeExternalName:
	case spec.ClusterIP == "", spec.ClusterIP == was.Spec.ClusterIP:
		out = append(out, was.Spec.ClusterIP)
		out = append(out, was.Spec.ClusterIPs...)
	default:
		out = append(out, spec.ClusterIP)
	}
	if spec.Type != corev1.ServiceTypeNodePort && spec.Type != corev1.ServiceTypeLoadBalancer {
		return out
	}
	named := map[string]int32{}
	for _, port := range was.Spec.Ports {
		named[port.Name] = port.NodePort
	}
	var ports []int32
	if spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		ports = append(ports, cmp.Or(spec.HealthCheckNodePort, was.Spec.HealthCheckNodePort))
	}
	for _, port := range spec.Ports {
		ports = append(ports, cmp.Or(port.NodePort, named[port.Name]))
	}
	for _, port := range ports {
		out = append(out, strconv.Itoa(int(port)))
	}
	return out
}

// allocations returns the node ports and cluster IPs that a Service has or asks for.
func allocations(service map[string]any) []string {
	spec, _ := service["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	addresses, _ := spec["clusterIPs"].([]any)
	values := append([]any{spec["clusterIP"], spec["healthCheckNodePort"]}, addresses...)
	for _, port := range ports {
		values = append(values, jsontree.KeyOf(port, "nodePort"))
	}
	var out []string
	for _, v := range values {
		text, _ := jsontree.ScalarText(v)
		if text != "" && text != "0" && text != "None" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// checkAllocations blocks if two Services of the target ask for the same port or address: a dry run accepts each. A
// hook's counts if it is there beside the resources: it runs after them, or before them and is left.
func (b *builder) checkAllocations() {
	if b.in.Operation == Rollback { // the cluster has accepted that revision
		return
	}
	wanted := map[string]manifest.ID{}
	for i, o := range b.in.Target.Objects {
		if b.targets[o.ID] == i {
			b.allocate(wanted, o)
		}
	}
	_, post, _ := moments(b.in.Operation)
	for i, h := range b.in.Target.Record.Hooks {
		if !b.in.Runs(h) || !h.On(post) && h.Deletes(manifest.HookSucceeded) {
			continue
		}
		for _, o := range b.in.Target.HookObjects[i] {
			if !b.wants(o.ID) { // clashes says what becomes of the others
				b.allocate(maps.Clone(wanted), o) // hooks may follow one another
			}
		}
	}
}

// allocate notes what a Service asks for, and blocks if another one has asked for it.
func (b *builder) allocate(wanted map[string]manifest.ID, o manifest.Object) {
	if o.GroupKind() != kinds.Service {
		return
	}
	for _, what := range allocations(o.Doc.Object) {
		if first, taken := wanted[what]; taken {
			b.blockUnsent(Problem{
				Kind: ProblemInvalid, Object: o.ID, Do: "give one of them another",
				What: fmt.Sprintf("it asks for %s, as does Service/%s, and only one can have it", what, first.Name),
			})
			continue
		}
		wanted[what] = o.ID
	}
}

// goes reports whether the plan deletes an object that is not in the target.
func (b *builder) goes(id manifest.ID) bool {
	s, known := b.storedObject(id)
	becomesHook := slices.ContainsFunc(b.in.Target.HookObjects, func(objects []manifest.Object) bool { return contains(id, objects) })
	return known && b.in.Operation != CorrectDrift && b.stays(s, becomesHook) == ""
}
