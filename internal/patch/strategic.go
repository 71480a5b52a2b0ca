package patch

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// strategic computes a strategic merge patch; it returns false if the documents don't allow one.
func (m *merge) strategic() (Patch, bool) {
	var docs [3][]byte
	for i, doc := range onlyDifferent(m.prunedStored(), m.normalized(), m.live) {
		data, err := json.Marshal(doc)
		if err != nil {
			return Patch{}, false
		}
		docs[i] = data
	}
	t, _ := apitypes.Strategic(m.gvk)
	lookup := wholeLists{base: strategicpatch.PatchMetaFromStruct{T: t}, whole: m.whole}
	data, err := guarded(func() ([]byte, error) {
		return strategicpatch.CreateThreeWayMergePatch(docs[0], docs[1], docs[2], lookup, true)
	})
	if err != nil {
		return Patch{}, false
	}
	var body map[string]any
	if err := jsontree.Unmarshal(data, &body); err != nil {
		return Patch{}, false
	}
	if len(m.whole) > 0 {
		m.markReplaced(body, m.live, fieldPath{node: m.root})
	}
	p, err := m.checked(types.StrategicMergePatchType, body)
	return p, err == nil
}

// onlyDifferent leaves out the top-level fields in which all three documents agree: no patch has
// them, and most of an object need not be encoded and decoded.
func onlyDifferent(stored, target, live map[string]any) [3]map[string]any {
	docs := [3]map[string]any{}
	for i, doc := range [3]map[string]any{stored, target, live} {
		docs[i] = make(map[string]any, len(doc))
		for k, v := range doc {
			if !jsontree.Same(target[k], live[k]) || !jsontree.Same(stored[k], live[k]) {
				docs[i][k] = v
			}
		}
	}
	return docs
}

// wholeLists makes strategicpatch replace some lists as a whole although their type says that they
// are merged by key.
type wholeLists struct {
	base  strategicpatch.LookupPatchMeta
	field string
	whole map[string]bool
}

func (w wholeLists) at(key string, base strategicpatch.LookupPatchMeta) wholeLists {
	field := key
	if w.field != "" {
		field = w.field + "." + key
	}
	return wholeLists{base: base, field: field, whole: w.whole}
}

func (w wholeLists) LookupPatchMetadataForStruct(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	base, meta, err := w.base.LookupPatchMetadataForStruct(key)
	return w.at(key, base), meta, err
}

func (w wholeLists) LookupPatchMetadataForSlice(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	base, meta, err := w.base.LookupPatchMetadataForSlice(key)
	sub := w.at(key, base)
	if w.whole[sub.field] {
		meta = strategicpatch.PatchMeta{}
	}
	return sub, meta, err
}

func (w wholeLists) Name() string { return w.base.Name() }

// markReplaced adds the directive by which the API server replaces those lists instead of merging
// them by key
// (https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md).
func (m *merge) markReplaced(body, live map[string]any, p fieldPath) {
	for k, v := range body {
		at := p.child(k)
		switch v := v.(type) {
		case map[string]any:
			lv, _ := live[k].(map[string]any)
			m.markReplaced(v, lv, at)
		case []any:
			lv, _ := live[k].([]any)
			if m.whole[at.field] && at.node.Keyed() {
				if len(lv) > 0 {
					body[k] = append([]any{map[string]any{"$patch": "replace"}}, v...)
				}
				continue
			}
			m.markItems(v, lv, at)
		}
	}
}

func (m *merge) markItems(items, live []any, p fieldPath) {
	if !p.node.Keyed() {
		return
	}
	lives := jsontree.Finder(live, p.node.MergeKey)
	for _, item := range items {
		body, ok := item.(map[string]any)
		if !ok {
			continue
		}
		lv, _ := lives(jsontree.KeyOf(item, p.node.MergeKey)).(map[string]any)
		m.markReplaced(body, lv, p.item())
	}
}

// replaceLists carries out what markReplaced directs, and takes it out of the patch. strategicpatch would
// have the same result, but looks each item up in both lists whenever it compares two to sort them.
func replaceLists(doc, body map[string]any, n *apitypes.Node) {
	if _, ok := body["$patch"]; ok {
		return // all of doc is replaced or deleted
	}
	for k, v := range body {
		child := n.Child(k)
		switch v := v.(type) {
		case map[string]any:
			if below, ok := doc[k].(map[string]any); ok {
				replaceLists(below, v, child)
			}
		case []any:
			list, ok := doc[k].([]any)
			switch {
			case !ok || !child.Keyed():
			case len(v) > 0 && isReplacement(v[0]):
				doc[k] = v[1:]
				delete(body, k)
			default:
				replaceInItems(list, v, child)
			}
		}
	}
}

func replaceInItems(list, items []any, n *apitypes.Node) {
	find := jsontree.Finder(list, n.MergeKey)
	for _, item := range items {
		body, ok := item.(map[string]any)
		below, found := find(jsontree.KeyOf(item, n.MergeKey)).(map[string]any)
		if ok && found {
			replaceLists(below, body, n.Item())
		}
	}
}

// isReplacement reports whether an item is nothing but the directive to replace its list.
func isReplacement(item any) bool {
	m, _ := item.(map[string]any)
	return len(m) == 1 && m["$patch"] == "replace"
}

// applyBody applies a patch to doc. Both may be changed.
func applyBody(gvk schema.GroupVersionKind, doc map[string]any, kind types.PatchType, body map[string]any) (map[string]any, error) {
	switch kind {
	case types.MergePatchType:
		out, _ := applyJSONMerge(doc, body).(map[string]any)
		return out, nil
	case types.StrategicMergePatchType:
		t, ok := apitypes.Strategic(gvk)
		if !ok {
			return nil, fmt.Errorf("%s does not support strategic merge patches", gvk.Kind)
		}
		replaceLists(doc, body, apitypes.Of(gvk))
		lookup := strategicpatch.PatchMetaFromStruct{T: t}
		out, err := guarded(func() (map[string]any, error) {
			return strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(doc, body, lookup)
		})
		if err != nil {
			return nil, fmt.Errorf("strategic merge: %w", err)
		}
		return out, nil
	case types.JSONPatchType, types.ApplyYAMLPatchType, types.ApplyCBORPatchType:
	}
	return nil, fmt.Errorf("patch type %q can't be predicted locally", kind)
}

// guarded turns a panic into an error: strategicpatch compares merge keys without checking their
// types, and panics if they are lists. The API server will say what is wrong with such an object.
func guarded[T any](merge func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the documents can't be merged: %v", r)
		}
	}()
	return merge()
}
