package kinds

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Definition is what a CustomResourceDefinition says about the kind that it defines.
type Definition struct {
	schema.GroupKind
	// Resource is the kind's name in URLs and roles: "widgets".
	Resource      string
	ClusterScoped bool
	// Served are the versions that are served, in the definition's order.
	Served []string
}

// Define reads a CustomResourceDefinition. ok is false for any other object, including nil, and for one
// that names no group or kind, which the API server refuses.
// Fields: https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.3/pkg/apis/apiextensions/v1/types.go.
func Define(doc *unstructured.Unstructured) (d Definition, ok bool) {
	if doc == nil || doc.GroupVersionKind().GroupKind() != CustomResourceDefinition {
		return Definition{}, false
	}
	spec, _ := doc.Object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	d.Group, _ = spec["group"].(string)
	d.Kind, _ = names["kind"].(string)
	d.Resource, _ = names["plural"].(string)
	d.ClusterScoped = spec["scope"] == "Cluster"
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if name, _ := version["name"].(string); name != "" && version["served"] == true {
			d.Served = append(d.Served, name)
		}
	}
	return d, d.Group != "" && d.Kind != ""
}
