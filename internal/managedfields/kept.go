package managedfields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Keep adds to a document what it lacks of the live object although, by these entries, others own it: a
// server-side apply does not remove that (structured-merge-diff v6.4.2, merge/update.go, prune). An item of a list
// stays only if it is owned itself; a field in it is not enough. Entries that can't be read own nothing.
func Keep(doc, live *unstructured.Unstructured, entries []metav1.ManagedFieldsEntry) *unstructured.Unstructured {
	others := fieldpath.NewSet()
	for _, entry := range entries {
		if entry.Subresource == "status" {
			continue
		}
		if set, err := fieldsOf(entry); err == nil {
			others = others.Union(set)
		}
	}
	if others.Empty() {
		return doc
	}
	out, leaves := doc.DeepCopy(), others.Leaves()
	others.Iterate(func(path fieldpath.Path) { // an item before what is in it
		if last := path[len(path)-1]; last.FieldName == nil || leaves.Has(path) {
			keep(out.Object, live.Object, path)
		}
	})
	return out
}

// keep returns the value with what is at the path in the live one, if it has nothing there. It changes the value.
func keep(v, live any, path fieldpath.Path) any {
	e, below := path[0], path[1:]
	if e.FieldName != nil {
		return keepField(v, live, *e.FieldName, below)
	}
	there, _ := live.([]any)
	i := slices.IndexFunc(there, func(item any) bool { return selects(e, item) })
	items, isList := v.([]any)
	if i < 0 || v != nil && !isList {
		return v
	}
	at := slices.IndexFunc(items, func(item any) bool { return selects(e, item) })
	switch {
	case at < 0 && len(below) > 0:
		return v
	case at < 0:
		items = append(items, bare(e, there[i]))
	case len(below) > 0:
		items[at] = keep(items[at], there[i], below)
	}
	return items
}

func keepField(v, live any, name string, below fieldpath.Path) any {
	there, _ := live.(map[string]any)
	inner, has := there[name]
	fields, isMap := v.(map[string]any)
	if !has || v != nil && !isMap {
		return v
	}
	kept, known := fields[name]
	switch {
	case len(below) > 0:
		kept = keep(kept, inner, below)
	case !known:
		kept = jsontree.Copy(inner)
	}
	if kept == nil {
		return v
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields[name] = kept
	return fields
}

// selects reports whether an element of a path, other than a field's name, names an item of a list.
func selects(e fieldpath.PathElement, item any) bool {
	switch {
	case e.Value != nil:
		return jsontree.Same(item, jsontree.Number((*e.Value).Unstructured()))
	case e.Key != nil:
		return itemWith(keyOf(e), []any{item}) != nil
	}
	return false
}

// bare returns an item of a list with nothing but what the element names: its key, or all of it.
func bare(e fieldpath.PathElement, item any) any {
	if e.Key == nil {
		return item
	}
	out := keyOf(e)
	for field := range out {
		if out[field] = jsontree.KeyOf(item, field); out[field] == nil {
			delete(out, field) // a protocol that is a default
		}
	}
	return out
}
