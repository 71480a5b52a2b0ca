package patch

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Duplicate is a merge key that several items of one list share. The API server
// matches items by it and would merge them into one, or lose one.
type Duplicate struct {
	// Path is the list, "spec.template.spec.containers[web].env".
	Path string `json:"path"`
	// Key is the shared merge key, "name=DEBUG"; of items without one it is the
	// key's name alone.
	Key string `json:"key"`

	field string
}

// DuplicateKeys finds the lists of a built-in kind that hold one merge key more
// than once. ThreeWay sends such lists whole; server-side apply is refused by
// the API server for some of them. The order is that of the paths.
func DuplicateKeys(target *unstructured.Unstructured) []Duplicate {
	if target == nil {
		return nil
	}
	return duplicates(target.Object, builtin().kind(target.GroupVersionKind()))
}

func duplicates(doc map[string]any, root *node) []Duplicate {
	var f finder
	f.object(doc, place{node: root}, "")
	slices.SortFunc(f.found, func(a, b Duplicate) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Key, b.Key))
	})
	return f.found
}

type finder struct{ found []Duplicate }

func (f *finder) object(doc map[string]any, p place, path string) {
	for k, v := range doc {
		if path == "" && apart(k) {
			continue
		}
		at := p.child(k)
		if at.node == nil {
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			f.object(v, at, join(path, k))
		case []any:
			f.list(v, at, join(path, k))
		}
	}
}

func (f *finder) list(list []any, p place, path string) {
	if p.node.keyed() {
		f.keys(list, p, path)
	}
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok || p.node.item() == nil {
			continue
		}
		id := fmt.Sprint(i)
		if key := keyOf(item, p.node.mergeKey); key != nil {
			id = fmt.Sprint(key)
		}
		f.object(m, p.item(), path+"["+id+"]")
	}
}

func (f *finder) keys(list []any, p place, path string) {
	count := make(map[any]int, len(list))
	for _, item := range list {
		key := keyOf(item, p.node.mergeKey)
		count[key]++
		switch {
		case key == nil && count[key] == 1:
			f.found = append(f.found, Duplicate{Path: path, Key: p.node.mergeKey, field: p.field})
		case key != nil && count[key] == 2:
			name := fmt.Sprintf("%s=%v", p.node.mergeKey, key)
			f.found = append(f.found, Duplicate{Path: path, Key: name, field: p.field})
		}
	}
}
