package readiness

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clockSkew is how far the clocks of a controller and the API server may differ when their times
// are compared.
const clockSkew = 5 * time.Second

// earlier reports whether a condition is older than the last write: the object had it then, with
// the same words and times, or it names an older generation. A controller may have observed the new
// generation without judging it yet. The deployment controller of Kubernetes 1.36 does that
// (pkg/controller/deployment/progress.go): a Deployment that has exceeded its deadline keeps that
// condition unchanged until there is progress.
func (ctx Context) earlier(obj *unstructured.Unstructured, c condition) bool {
	if number(c.fields, obj.GetGeneration(), "observedGeneration") < obj.GetGeneration() {
		return true
	}
	if ctx.Before == nil {
		return false
	}
	then, ok := conditionOf(ctx.Before.Object, text(c.fields, "type"))
	return ok && reflect.DeepEqual(then.fields, c.fields)
}

// earlierRollout reports whether the exceeded progress deadline began before the last write. The
// controller counts from the last progress that it has noticed, and going back to an existing
// ReplicaSet is no progress: a rollback after the deadline of a failed rollout has passed is
// immediately reported as late, until it makes progress.
func (ctx Context) earlierRollout(obj *unstructured.Unstructured, exceeded condition) bool {
	if ctx.earlier(obj, exceeded) {
		return true
	}
	at, err := time.Parse(time.RFC3339, text(exceeded.fields, "lastUpdateTime"))
	written := LastWritten(ctx.Before)
	if err != nil || written.IsZero() {
		return false
	}
	deadline := time.Duration(number(obj.Object, 600, "spec", "progressDeadlineSeconds")) * time.Second
	return at.Add(-deadline).Before(written.Add(-min(clockSkew, deadline/2)))
}

// LastWritten returns when the object was created or last changed, except for its status and
// scale, by the API server's clock and in whole seconds: the newest time in its managedFields. It
// is zero when the object, which may be nil, does not say.
func LastWritten(obj *unstructured.Unstructured) time.Time {
	if obj == nil {
		return time.Time{}
	}
	created := obj.GetCreationTimestamp()
	last := created.Time
	for _, entry := range obj.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}
