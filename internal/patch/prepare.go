package patch

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// prepare returns a document without the fields that take no part in a merge. Whole numbers are
// int64, and a Secret's stringData is merged into its data. The result shares memory with the
// document and must not be changed.
func prepare(u *unstructured.Unstructured) map[string]any {
	if u == nil {
		return nil
	}
	doc := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		if !serverfields.IsExcluded(k) {
			doc[k] = jsontree.Canonical(v)
		}
	}
	if meta, ok := doc["metadata"].(map[string]any); ok {
		own := make(map[string]any, len(meta))
		for k, v := range meta {
			if !serverfields.Assigned(k) {
				own[k] = v
			}
		}
		doc["metadata"] = own
	}
	if serverfields.IsSecret(u) {
		serverfields.FoldStringData(doc)
	}
	return doc
}
