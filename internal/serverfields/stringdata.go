package serverfields

import (
	"encoding/base64"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// IsSecret reports whether u is a Kubernetes Secret.
func IsSecret(u *unstructured.Unstructured) bool {
	return u != nil && u.GroupVersionKind().GroupKind() == kinds.Secret
}

// IsSecretField reports whether a Secret's field of that name holds secrets: data and stringData do, and so may any
// other, as the two may be misspelt, but those that say what the object is.
func IsSecretField(name string) bool {
	return !slices.Contains([]string{"apiVersion", "kind", "metadata", "type", "immutable"}, name)
}

// FoldStringData moves a Secret's stringData into its data, as the API server does on
// write. Values that are not strings stay, and so do fields that are not maps, for the server to reject.
func FoldStringData(doc map[string]any) {
	plain, isMap := doc["stringData"].(map[string]any)
	given, fits := doc["data"].(map[string]any)
	if !isMap && doc["stringData"] != nil || !fits && doc["data"] != nil {
		return
	}
	delete(doc, "stringData")
	if !isMap {
		return
	}
	data, rest := map[string]any{}, map[string]any{}
	maps.Copy(data, given)
	for k, v := range plain {
		if v == nil {
			v = ""
		}
		if s, ok := v.(string); ok {
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		} else {
			rest[k] = v
		}
	}
	doc["data"] = data
	if len(rest) > 0 {
		doc["stringData"] = rest
	}
}

// WithoutStringData returns a Secret with its stringData moved into data, as the API
// server stores it. A server-side apply must send it this way: the server tracks
// ownership of stringData itself (Kubernetes 1.36), so keys that the next apply drops
// from stringData would remain in data. Other objects are returned as they are; doc is
// not changed.
func WithoutStringData(doc *unstructured.Unstructured) *unstructured.Unstructured {
	if _, ok := doc.Object["stringData"]; !ok || !IsSecret(doc) {
		return doc
	}
	object, _ := jsontree.Copy(doc.Object).(map[string]any)
	FoldStringData(object)
	return &unstructured.Unstructured{Object: object}
}
