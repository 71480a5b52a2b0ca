package patch

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// Duplicate is a key that several items of one list have. The API server matches items by that key,
// so it would merge them, or drop one.
type Duplicate struct {
	// Path is the list, "spec.template.spec.containers[web].env".
	Path string `json:"path"`
	// Key is the shared key, "name=DEBUG" or "containerPort=53, protocol=UDP"; for items without
	// the key it is the key's name alone.
	Key string `json:"key"`

	field string
}

// DuplicateKeys finds the lists of a built-in kind that contain a key more than once: the merge key
// of a strategic merge patch, or the keys that identify items in a server-side apply. ThreeWay
// sends such lists whole; for some of them the API server refuses a server-side apply. The result
// is ordered by path.
func DuplicateKeys(target *unstructured.Unstructured, serverSide bool) []Duplicate {
	if target == nil {
		return nil
	}
	f := finder{serverSide: serverSide}
	return f.in(target.Object, apitypes.Of(target.GroupVersionKind()))
}

func (f *finder) in(doc map[string]any, root *apitypes.Node) []Duplicate {
	f.object(doc, fieldPath{node: root}, "")
	slices.SortFunc(f.found, func(a, b Duplicate) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Key, b.Key))
	})
	return f.found
}

type finder struct {
	serverSide bool
	found      []Duplicate
	// long are the fields of lists with more than maxMatched items.
	long []string
}

// maxMatched is how many items strategicpatch may match by key: it compares each with each, as the API
// server does when it applies such a patch. Longer lists are merged here.
const maxMatched = 500

func (f *finder) object(doc map[string]any, p fieldPath, path string) {
	for k, v := range doc {
		if path == "" && serverfields.IsExcluded(k) {
			continue
		}
		at := p.child(k)
		if at.node == nil {
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			f.object(v, at, jsontree.Join(path, k))
		case []any:
			f.list(v, at, jsontree.Join(path, k))
		}
	}
}

func (f *finder) list(list []any, p fieldPath, path string) {
	if p.node.Keyed() {
		f.keys(list, p, path)
		if len(list) > maxMatched {
			f.long = append(f.long, p.field)
		}
	}
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok || p.node.Item() == nil {
			continue
		}
		id := fmt.Sprint(i)
		if key := jsontree.KeyOf(item, p.node.MergeKey); key != nil {
			id = fmt.Sprint(key)
		}
		f.object(m, p.item(), path+"["+id+"]")
	}
}

func (f *finder) keys(list []any, p fieldPath, path string) {
	count := make(map[string]int, len(list))
	for _, item := range list {
		key := f.key(item, p.node.MergeKey)
		count[key]++
		if none := key == p.node.MergeKey; none && count[key] == 1 || !none && count[key] == 2 {
			f.found = append(f.found, Duplicate{Path: path, Key: key, field: p.field})
		}
	}
}

// key describes the key by which an item is matched; for an item without it, it is the key's name
// alone.
func (f *finder) key(item any, mergeKey string) string {
	value := jsontree.KeyOf(item, mergeKey)
	if value == nil {
		return mergeKey
	}
	key := fmt.Sprintf("%s=%v", mergeKey, value)
	if more := applyKey(mergeKey); f.serverSide && more.name != "" {
		value := jsontree.KeyOf(item, more.name)
		if value == nil || value == "" {
			value = more.standard
		}
		key += fmt.Sprintf(", %s=%v", more.name, value)
	}
	return key
}

// listKey is a field that identifies the items of a list, and its default.
type listKey struct{ name, standard string }

// applyKey is the field by which a server-side apply identifies items besides the merge key. These
// are all lists of built-in kinds with more than one +listMapKey, except in status (k8s.io/api
// 0.37: https://github.com/kubernetes/api/blob/v0.37.2/core/v1/types.go, Container.Ports,
// ServiceSpec.Ports and PodSpec.TopologySpreadConstraints).
func applyKey(mergeKey string) listKey {
	switch mergeKey {
	case "containerPort", "port":
		return listKey{name: "protocol", standard: "TCP"}
	case "topologyKey":
		return listKey{name: "whenUnsatisfiable"}
	}
	return listKey{}
}
