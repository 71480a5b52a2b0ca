package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// HookDone says whether a hook is done: Jobs and Pods when they have ended, a
// CustomResourceDefinition when it is established, any other kind when it exists. Helm waits for
// Jobs and Pods only (4.3.1, pkg/kube/statuswait.go, WatchUntilReady).
func HookDone(obj *unstructured.Unstructured, ctx Context) Result {
	if obj == nil {
		return progressing("it does not exist yet")
	}
	switch obj.GroupVersionKind().GroupKind() {
	case kinds.Job:
		return jobEnd(obj)
	case kinds.Pod:
		return podEnd(obj)
	case kinds.CustomResourceDefinition:
		return definition(obj, ctx)
	}
	return ready("it exists")
}

// podEnd follows a pod to its end; a ready pod is not done.
func podEnd(obj *unstructured.Unstructured) Result {
	switch phase := text(obj.Object, "status", "phase"); phase {
	case "Succeeded":
		return ready("it has succeeded")
	case "Failed":
		return failed("%s", podFailure(obj.Object))
	case "Running":
		if reason := waitingReason(obj.Object); reason != "" {
			return progressing("it is running: %s", reason)
		}
		return progressing("it is running")
	}
	if reason := waitingReason(obj.Object); reason != "" {
		return progressing("it has not started: %s", reason)
	}
	return progressing("it has not started")
}
