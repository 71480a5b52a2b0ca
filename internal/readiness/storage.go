package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// claim is ready when it is bound. One whose class waits for the first consumer
// can't be bound before a pod uses it, and that pod may be none of ours.
func claim(obj *unstructured.Unstructured, ctx Context) Result {
	switch phase := text(obj.Object, "status", "phase"); phase {
	case "Bound":
		return ready("it is bound")
	case "Lost":
		// Bound again when the volume is back; the phase has no time.
		if ctx.Before != nil && text(ctx.Before.Object, "status", "phase") == phase {
			return progressing("it was lost before, and the volume that it was bound to is not back")
		}
		return failed("it is lost: the volume that it was bound to is gone")
	}
	if waitsForConsumer(obj, ctx) {
		return ready("waiting for the first consumer")
	}
	return progressing("it is not bound yet")
}

// waitsForConsumer knows the claim's class when it is related, and that the
// scheduler has not chosen a node for it.
func waitsForConsumer(obj *unstructured.Unstructured, ctx Context) bool {
	if obj.GetAnnotations()["volume.kubernetes.io/selected-node"] != "" || text(obj.Object, "spec", "volumeName") != "" {
		return false
	}
	class := text(obj.Object, "spec", "storageClassName")
	for _, o := range ctx.Related {
		if o == nil || class == "" {
			continue
		}
		if o.GetKind() == kinds.StorageClass.Kind && o.GetName() == class {
			return text(o.Object, "volumeBindingMode") == "WaitForFirstConsumer"
		}
	}
	return false
}
