package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
	"github.com/kubectl-release/kubectl-release/templating"
)

// LookupIn returns a function that answers lookups from templates with the given objects, like a
// cluster with nothing else in it. Objects of namespaced kinds without a namespace are in the given
// one. The versions of a kind are not distinguished: to the API server they are the same object.
func LookupIn(objects []manifest.Object, namespace string) templating.LookupFunc {
	objects = manifest.Qualify(objects, namespace, func(gvk schema.GroupVersionKind) manifest.Scope { return BuiltinScope(gvk.GroupKind()) })
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		items := []any{}
		for _, o := range objects {
			if o.GroupKind() != schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind() {
				continue
			}
			object, _ := jsontree.Copy(serverfields.WithoutStringData(o.Doc).Object).(map[string]any)
			switch anywhere := o.Namespace == ""; {
			case name == "" && (anywhere || namespace == "" || o.Namespace == namespace):
				items = append(items, object)
			case name == o.Name && (anywhere || o.Namespace == namespace):
				return object, nil
			}
		}
		if name != "" {
			return map[string]any{}, nil
		}
		return listOf(apiVersion, kind, items), nil
	}
}

// listOf returns the answer to a lookup without a name.
func listOf(apiVersion, kind string, items []any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind + "List", "metadata": map[string]any{}, "items": items}
}
