package managedfields

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// ClientSideManagers returns, without repeats, those of the managers that own fields of
// live through plain updates, as client-side patches do, according to its managedFields;
// what they write to subresources doesn't count. To a server-side apply such fields are
// somebody else's, even when the manager's name is its own: it conflicts where it changes
// one, and leaves in place what it drops. The latter also holds for what was applied as a
// Secret's stringData (see WithoutStringData), which counts when live is given.
func ClientSideManagers(live *unstructured.Unstructured, entries []metav1.ManagedFieldsEntry, managers ...string) []string {
	var found []string
	for _, entry := range entries {
		updates := entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
		updates = updates || serverfields.IsSecret(live) && ownsStringData(entry)
		if updates && slices.Contains(managers, entry.Manager) && !slices.Contains(found, entry.Manager) {
			found = append(found, entry.Manager)
		}
	}
	return found
}

// WrittenOnlyBy reports whether, by an object's managedFields, nobody but the managers
// has ever written fields of it, apart from its status. It is false without entries.
func WrittenOnlyBy(entries []metav1.ManagedFieldsEntry, managers ...string) bool {
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource != "status" && !slices.Contains(managers, entry.Manager)
	})
}

// LastApplied returns what kubectl apply last sent client-side for a live object,
// according to the annotation that it leaves, which is included; nil without a valid
// one.
func LastApplied(live *unstructured.Unstructured) *unstructured.Unstructured {
	annotation := manifest.Annotation(live, corev1.LastAppliedConfigAnnotation)
	doc := &unstructured.Unstructured{}
	if annotation == "" || json.Unmarshal([]byte(annotation), doc) != nil {
		return nil
	}
	annotations := doc.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[corev1.LastAppliedConfigAnnotation] = annotation
	doc.SetAnnotations(annotations)
	return doc
}
