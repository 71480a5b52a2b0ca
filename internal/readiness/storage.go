package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// claim is ready when it is bound. If its class waits for the first consumer, it is not bound
// before a pod uses it, and that pod need not be in the release.
func claim(obj *unstructured.Unstructured, ctx Context) Result {
	switch phase := text(obj.Object, "status", "phase"); phase {
	case "Bound":
		return ready("it is bound")
	case "Lost":
		// It is bound again when the volume is back; the phase has no time.
		if ctx.Before != nil && text(ctx.Before.Object, "status", "phase") == phase {
			return progressing("it was lost before, and the volume that it was bound to is still missing")
		}
		return failed("it is lost: the volume that it was bound to is gone")
	}
	if waitsForConsumer(obj, ctx) {
		return ready("waiting for the first consumer")
	}
	return progressing("it is not bound yet")
}

// StorageClass returns the name of the StorageClass that Check needs among the related objects: that of
// a claim that is not bound yet. It is "" if Check needs none.
func StorageClass(obj *unstructured.Unstructured) string {
	if obj == nil || obj.GroupVersionKind().GroupKind() != kinds.PersistentVolumeClaim || text(obj.Object, "status", "phase") != "Pending" {
		return ""
	}
	return text(obj.Object, "spec", "storageClassName")
}

// waitsForConsumer reports whether the claim's class, if it is among the related objects, waits for
// the first consumer, and the scheduler has not chosen a node yet
// (https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode).
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
