package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// owned is a copy of the object that carries Helm's ownership label and
// annotations, as objects are sent and as they are found in the cluster.
func owned(doc *unstructured.Unstructured, key release.Key) *unstructured.Unstructured {
	out := manifest.Sharing(doc)
	manifest.AddLabels(out, map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
	manifest.AddAnnotations(out, map[string]string{
		manifest.ReleaseNameAnnotation: key.Name, manifest.ReleaseNamespaceAnnotation: key.Namespace,
	})
	return out
}

// sent is the document as it is sent.
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

// foreign says in a few words whom a live object belongs to when it is not the
// release's, and "" when it is.
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

// nobodys is what foreign says of an object that nobody claims.
const nobodys = "it belongs to no release"

// otherRelease is "namespace/name" of another release that a live object says
// it belongs to, else "".
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
