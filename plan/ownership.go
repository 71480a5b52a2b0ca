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

// sent returns the body for requests about the document. Labels and annotations equal to the last
// body's share its memory.
func (b *builder) sent(doc *unstructured.Unstructured) *unstructured.Unstructured {
	if b.in.Options.ServerSide {
		doc = serverfields.WithoutStringData(doc)
	}
	body := owned(doc, b.in.Release)
	metadata, _ := body.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} { // most objects of a chart have the same
		if jsontree.Same(metadata[field], b.sentLast[field]) {
			metadata[field] = b.sentLast[field]
		}
		b.sentLast[field] = metadata[field]
	}
	return body
}

// foreign says to whom a live object belongs if it is not the release's; "" if it is.
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

// otherRelease is "namespace/name" of the other release that owns a live object by its annotations,
// else "".
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
