package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// owned returns a copy of the object with Helm's ownership label and annotations, as it is sent to
// the cluster.
func owned(doc *unstructured.Unstructured, key release.Key) *unstructured.Unstructured {
	out := manifest.Sharing(doc)
	manifest.AddLabels(out, map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
	manifest.AddAnnotations(out, map[string]string{
		manifest.ReleaseNameAnnotation: key.Name, manifest.ReleaseNamespaceAnnotation: key.Namespace,
	})
	return out
}

// sent returns the body that is sent for the document. Labels and annotations that equal those of
// the last body share its memory.
func (b *builder) sent(doc *unstructured.Unstructured) *unstructured.Unstructured {
	if b.in.Options.ServerSide {
		doc = serverfields.WithoutStringData(doc)
	}
	body := owned(doc, b.in.Release)
	metadata, _ := body.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} { // they are the same in most objects of a chart
		if jsontree.Same(metadata[field], b.sentLast[field]) {
			metadata[field] = b.sentLast[field]
		}
		b.sentLast[field] = metadata[field]
	}
	return body
}

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
