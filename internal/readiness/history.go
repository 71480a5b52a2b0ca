package readiness

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clockSkew is how far the clocks of a controller and of the API server may be
// apart where a time of the one is compared with one of the other.
const clockSkew = 5 * time.Second

// earlier says whether a condition is a sign of what was there before the write:
// it stood in the object then, in the same words and with the same times, or it
// names an older generation. A controller may well have observed the new
// generation and not have judged it yet. The deployment controller of Kubernetes
// 1.36 does so (pkg/controller/deployment/progress.go): a Deployment that has
// exceeded its deadline keeps that condition, as it is, until there is progress.
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

// earlierRollout says whether an exceeded progress deadline began before the
// write. The controller counts from the last progress that it has noticed, and
// going back to a ReplicaSet that is there already is none: a rollback that comes
// when the deadline of the failed rollout has passed is at once called late in
// its turn, until it makes progress.
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

// LastWritten is when the object was created or any of it but its status and
// scale last changed, by the API server's clock and to the second: the newest
// time of its managedFields. It is zero when the object, which may be nil, does
// not say.
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
