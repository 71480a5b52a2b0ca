package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// deployment is ready when the newest ReplicaSet has at least replicas − maxUnavailable ready pods.
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

// deploymentAllowance returns how many replicas may be missing. Recreate allows none. If surge and
// unavailability both come out as 0, one may be missing, as in the controller (Kubernetes 1.36,
// pkg/controller/deployment/util, ResolveFenceposts).
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

// newestReady returns the number of ready pods of the newest ReplicaSet. Without the ReplicaSets it
// is a lower bound from the Deployment's status: old pods (all minus the updated ones) are assumed
// to be ready first.
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

// newestReplicaSet returns the ReplicaSet with the Deployment's current revision.
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

// statefulSet is ready when updated ≥ replicas − partition and ready = replicas. With OnDelete,
// pods are replaced by hand.
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
	// The counts reflect a change of the template late, the revisions reflect it immediately.
	current, update := text(obj.Object, "status", "currentRevision"), text(obj.Object, "status", "updateRevision")
	if partition == 0 && current != update {
		return progressing("its update to revision %s is not complete", update)
	}
	return ready("%d of %s ready", have, replicas(want))
}

// daemonSet is ready when updated = desired and ready ≥ desired − maxUnavailable.
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

// replicaSet is ready when all wanted replicas are, and the generation was observed.
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
