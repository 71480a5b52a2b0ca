package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// deployment: the newest ReplicaSet has at least replicas − maxUnavailable
// ready.
func deployment(obj *unstructured.Unstructured, ctx Context) Result {
	if field(obj.Object, "spec", "paused") == true {
		return ready("its rollout is paused")
	}
	if r, waiting := unobserved(obj); waiting {
		return r
	}
	if c, ok := conditionOf(obj.Object, "Progressing"); ok && c.reason == "ProgressDeadlineExceeded" && !ctx.earlierRollout(obj, c) {
		return failed("its rollout exceeded the progress deadline: %s", c.explain(c.reason))
	}
	want := number(obj.Object, 1, "spec", "replicas")
	enough := want - deploymentAllowance(obj.Object, want)
	have := newestReady(obj, ctx)
	if have < enough {
		return progressing("%d of %s ready", have, replicas(want))
	}
	return ready("%d of %s ready", have, replicas(want))
}

// deploymentAllowance is how many replicas may be missing. Recreate allows
// none. Like the controller, it lets one go when surge and unavailability both
// come out as nothing.
func deploymentAllowance(obj map[string]any, want int64) int64 {
	if text(obj, "spec", "strategy", "type") == "Recreate" || want == 0 {
		return 0
	}
	rolling, _ := field(obj, "spec", "strategy", "rollingUpdate").(map[string]any)
	unavailable, surge := field(rolling, "maxUnavailable"), field(rolling, "maxSurge")
	if unavailable == nil {
		unavailable = "25%"
	}
	if surge == nil {
		surge = "25%"
	}
	allowed := allowance(unavailable, want, false)
	if allowed == 0 && allowance(surge, want, true) == 0 {
		return 1
	}
	return allowed
}

// newestReady is the newest ReplicaSet's ready count. Without the ReplicaSets
// it is derived from the Deployment's status: of the ready replicas, the old
// ones (all less the updated) are taken to be ready first, so that it never
// says more than there are.
func newestReady(obj *unstructured.Unstructured, ctx Context) int64 {
	if rs, ok := newestReplicaSet(obj, ctx); ok {
		if _, waiting := unobserved(rs); waiting {
			return 0
		}
		return number(rs.Object, 0, "status", "readyReplicas")
	}
	total := number(obj.Object, 0, "status", "replicas")
	updated := number(obj.Object, 0, "status", "updatedReplicas")
	readyNow := number(obj.Object, 0, "status", "readyReplicas")
	return min(max(readyNow-max(total-updated, 0), 0), updated)
}

// newestReplicaSet is the one that carries the Deployment's current revision.
func newestReplicaSet(obj *unstructured.Unstructured, ctx Context) (*unstructured.Unstructured, bool) {
	const revision = "deployment.kubernetes.io/revision"
	want := obj.GetAnnotations()[revision]
	for _, rs := range ctx.Related {
		if rs == nil || rs.GetKind() != kinds.ReplicaSet.Kind || want == "" {
			continue
		}
		if rs.GetAnnotations()[revision] == want && ownedBy(rs, obj) {
			return rs, true
		}
	}
	return nil, false
}

func ownedBy(obj, owner *unstructured.Unstructured) bool {
	for _, ref := range obj.GetOwnerReferences() {
		if ref.UID == owner.GetUID() {
			return true
		}
	}
	return false
}

// statefulSet: updated ≥ replicas − partition, and ready = replicas. OnDelete
// leaves the pods to people.
func statefulSet(obj *unstructured.Unstructured, _ Context) Result {
	if r, waiting := unobserved(obj); waiting {
		return r
	}
	if text(obj.Object, "spec", "updateStrategy", "type") == "OnDelete" {
		return ready("its pods are replaced when they are deleted (OnDelete)")
	}
	want := number(obj.Object, 1, "spec", "replicas")
	partition := number(obj.Object, 0, "spec", "updateStrategy", "rollingUpdate", "partition")
	updated := number(obj.Object, 0, "status", "updatedReplicas")
	have := number(obj.Object, 0, "status", "readyReplicas")
	if due := want - partition; updated < due {
		return progressing("%d of %s updated", updated, replicas(due))
	}
	if have != want {
		return progressing("%d of %s ready", have, replicas(want))
	}
	// A change of the template is counted late: the revisions tell it at once.
	current, update := text(obj.Object, "status", "currentRevision"), text(obj.Object, "status", "updateRevision")
	if partition == 0 && current != update {
		return progressing("its update to revision %s is not complete", update)
	}
	return ready("%d of %s ready", have, replicas(want))
}

// daemonSet: updated scheduled = desired, and ready ≥ desired − maxUnavailable.
func daemonSet(obj *unstructured.Unstructured, _ Context) Result {
	if r, waiting := unobserved(obj); waiting {
		return r
	}
	if text(obj.Object, "spec", "updateStrategy", "type") == "OnDelete" {
		return ready("its pods are replaced when they are deleted (OnDelete)")
	}
	desired := number(obj.Object, 0, "status", "desiredNumberScheduled")
	updated := number(obj.Object, 0, "status", "updatedNumberScheduled")
	have := number(obj.Object, 0, "status", "numberReady")
	if updated != desired {
		return progressing("%d of %d pods are updated", updated, desired)
	}
	unavailable := field(obj.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
	if unavailable == nil {
		unavailable = int64(1)
	}
	if have < desired-allowance(unavailable, desired, true) {
		return progressing("%d of %d pods are ready", have, desired)
	}
	return ready("%d of %d pods are ready", have, desired)
}

// replicaSet is ready when as many as wanted are, and the generation was seen.
func replicaSet(obj *unstructured.Unstructured, _ Context) Result {
	if r, waiting := unobserved(obj); waiting {
		return r
	}
	want := number(obj.Object, 1, "spec", "replicas")
	have := number(obj.Object, 0, "status", "readyReplicas")
	if have != want {
		return progressing("%d of %s ready", have, replicas(want))
	}
	return ready("%d of %s ready", have, replicas(want))
}
