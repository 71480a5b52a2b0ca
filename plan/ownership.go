package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// owned is a copy of the object that carries Helm's ownership label and
// annotations, as objects are sent and as they are found in the cluster.
func owned(doc *unstructured.Unstructured, key release.Key) *unstructured.Unstructured {
	out := doc.DeepCopy()
	labels := out.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[manifest.ManagedByLabel] = manifest.ManagedByHelm
	out.SetLabels(labels)

	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[manifest.ReleaseNameAnnotation] = key.Name
	annotations[manifest.ReleaseNamespaceAnnotation] = key.Namespace
	out.SetAnnotations(annotations)
	return out
}

// foreign says in a few words whom a live object belongs to when it is not the
// release's, and "" when it is.
func foreign(live *unstructured.Unstructured, key release.Key) string {
	annotations := live.GetAnnotations()
	name, namespace := annotations[manifest.ReleaseNameAnnotation], annotations[manifest.ReleaseNamespaceAnnotation]
	managed := live.GetLabels()[manifest.ManagedByLabel]
	switch {
	case managed == manifest.ManagedByHelm && name == key.Name && namespace == key.Namespace:
		return ""
	case name != "" && (name != key.Name || namespace != key.Namespace):
		return fmt.Sprintf("it belongs to release %s/%s", namespace, name)
	case managed != "" && managed != manifest.ManagedByHelm:
		return fmt.Sprintf("it is managed by %s", managed)
	default:
		return "it belongs to no release"
	}
}
