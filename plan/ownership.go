package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// Own gives the target's resources Helm's ownership label and annotations, with which they are sent to
// the cluster, so that they need not be copied for each plan that is built. What a stored revision has
// in the same memory stays as it is: most of it is not sent. Equal labels and annotations of neighbours
// become one in memory: they are the same in most objects of a chart.
func Own(target []manifest.Object, stored []StoredObject, key release.Key) {
	unchanged := make(map[*unstructured.Unstructured]bool, len(stored))
	for _, s := range stored {
		unchanged[s.Latest().Doc] = true
	}
	last := map[string]any{}
	for i, o := range target {
		if unchanged[o.Doc] {
			continue
		}
		doc := withOwner(o.Doc, key)
		if metadata, ok := doc.Object["metadata"].(map[string]any); ok {
			for _, field := range []string{"labels", "annotations"} {
				if jsontree.Same(metadata[field], last[field]) {
					metadata[field] = last[field]
				}
				last[field] = metadata[field]
			}
		}
		target[i].Doc = doc
	}
}

// asSent returns a stored document as it was sent, to compare it with one of the target's, which has
// ownership metadata if Own has given it some.
func (b *builder) asSent(stored, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	if stored == wanted || foreign(wanted, b.in.Release) != "" {
		return stored
	}
	return owned(stored, b.in.Release)
}

// owned returns the object with Helm's ownership label and annotations: itself if it has them, as after
// Own, otherwise a copy.
func owned(doc *unstructured.Unstructured, key release.Key) *unstructured.Unstructured {
	if foreign(doc, key) == "" {
		return doc
	}
	return withOwner(doc, key)
}

func withOwner(doc *unstructured.Unstructured, key release.Key) *unstructured.Unstructured {
	out := manifest.Sharing(doc)
	manifest.AddLabels(out, map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
	manifest.AddAnnotations(out, map[string]string{
		manifest.ReleaseNameAnnotation: key.Name, manifest.ReleaseNamespaceAnnotation: key.Namespace,
	})
	return out
}

// sent returns the body that is sent for the document.
func (b *builder) sent(doc *unstructured.Unstructured) *unstructured.Unstructured {
	if b.in.Options.ServerSide {
		doc = serverfields.WithoutStringData(doc)
	}
	return owned(doc, b.in.Release)
}

// Owns reports whether a live object belongs to the release by its ownership label and annotations.
func Owns(key release.Key, live *unstructured.Unstructured) bool { return foreign(live, key) == "" }

// foreign says who a live object belongs to if not to the release; "" if it is the release's own.
func foreign(live *unstructured.Unstructured, key release.Key) string {
	owner := ownerOf(live)
	managed := manifest.Label(live, manifest.ManagedByLabel)
	switch {
	case managed == manifest.ManagedByHelm && owner == key:
		return ""
	case otherRelease(live, key) != "":
		return "it belongs to release " + otherRelease(live, key)
	case managed != "" && managed != manifest.ManagedByHelm:
		return fmt.Sprintf("it is managed by %s", managed)
	default:
		return nobodys
	}
}

// nobodys is what foreign returns for an object without an owner.
const nobodys = "it belongs to no release"

// otherRelease returns "namespace/name" of the other release that owns a live object according to
// its annotations, or "".
func otherRelease(live *unstructured.Unstructured, key release.Key) string {
	owner := ownerOf(live)
	if owner.Name == "" || owner == key {
		return ""
	}
	return owner.Namespace + "/" + owner.Name
}

func ownerOf(live *unstructured.Unstructured) release.Key {
	return release.Key{
		Namespace: manifest.Annotation(live, manifest.ReleaseNamespaceAnnotation), Name: manifest.Annotation(live, manifest.ReleaseNameAnnotation),
	}
}
