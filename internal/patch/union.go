package patch

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Rivals returns the fields of live that contradict target and that a server-side apply of target
// would leave in place: other members of a union, which the API server has filled in. stored is
// what was applied before, or nil. List items are identified by their names:
// "spec.template.spec.volumes[data].emptyDir".
func Rivals(stored, live, target *unstructured.Unstructured) []string {
	if live == nil || target == nil {
		return nil
	}
	var was map[string]any
	if stored != nil {
		was = stored.Object
	}
	return rivals(was, live.Object, target.Object, apitypes.Of(target.GroupVersionKind()), "")
}

func rivals(stored, live, target any, n *apitypes.Node, path string) []string {
	var found []string
	switch tv := target.(type) {
	case map[string]any:
		lv, ok := live.(map[string]any)
		if !ok || n == nil {
			return nil
		}
		sv, _ := stored.(map[string]any)
		for _, field := range n.Excluded(sv, lv, tv) {
			found = append(found, jsontree.Join(path, field))
		}
		for _, k := range jsontree.Keys(tv, nil) {
			found = append(found, rivals(sv[k], lv[k], tv[k], n.Child(k), jsontree.Join(path, k))...)
		}
	case []any:
		lv, _ := live.([]any)
		sv, _ := stored.([]any)
		if !n.Keyed() || n.MergeKey != "name" {
			return nil // replaced as a whole, or without unions
		}
		lives, was := jsontree.Finder(lv, n.MergeKey), jsontree.Finder(sv, n.MergeKey)
		for _, item := range tv {
			if name, ok := jsontree.KeyOf(item, n.MergeKey).(string); ok {
				at := path + "[" + name + "]"
				found = append(found, rivals(was(name), lives(name), item, n.Item(), at)...)
			}
		}
	}
	return found
}

// withRivals returns stored as if it had also sent live's rivals, so that a three-way merge removes
// them. No document is changed.
func withRivals(stored, live, target map[string]any, root *apitypes.Node) map[string]any {
	extra, ok := rivalsIn(stored, live, target, root).(map[string]any)
	if !ok {
		return stored
	}
	out, _ := joined(stored, extra, root).(map[string]any)
	return out
}

// rivalsIn returns the part of live that consists of rivals, nil when there are none.
func rivalsIn(stored, live, target any, n *apitypes.Node) any {
	switch tv := target.(type) {
	case map[string]any:
		lv, ok := live.(map[string]any)
		if !ok || n == nil || n.Replaces {
			return nil
		}
		sv, _ := stored.(map[string]any)
		out := map[string]any{}
		for _, field := range n.Excluded(sv, lv, tv) {
			out[field] = lv[field]
		}
		for k, v := range tv {
			if sub := rivalsIn(sv[k], lv[k], v, n.Child(k)); sub != nil {
				out[k] = sub
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		lv, _ := live.([]any)
		sv, _ := stored.([]any)
		if n.Keyed() {
			return itemsWithRivals(sv, lv, tv, n)
		}
	}
	return nil
}

func itemsWithRivals(stored, live, target []any, n *apitypes.Node) any {
	var out []any
	lives, was := jsontree.Finder(live, n.MergeKey), jsontree.Finder(stored, n.MergeKey)
	for _, item := range target {
		id := jsontree.KeyOf(item, n.MergeKey)
		sub, ok := rivalsIn(was(id), lives(id), item, n.Item()).(map[string]any)
		if ok {
			sub[n.MergeKey] = id
			out = append(out, sub)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// joined returns a document with additional content; items of lists are matched by merge key.
func joined(doc, more any, n *apitypes.Node) any {
	switch mv := more.(type) {
	case map[string]any:
		dv, _ := doc.(map[string]any)
		out := make(map[string]any, len(dv)+len(mv))
		maps.Copy(out, dv)
		for k, v := range mv {
			out[k] = joined(dv[k], v, n.Child(k))
		}
		return out
	case []any:
		dv, _ := doc.([]any)
		if !n.Keyed() {
			return more
		}
		out := slices.Clone(dv)
		at := map[any]int{}
		for i, item := range slices.Backward(out) { // the first of several counts
			at[jsontree.KeyOf(item, n.MergeKey)] = i
		}
		for _, item := range mv {
			id := jsontree.KeyOf(item, n.MergeKey)
			i, ok := at[id]
			if !ok {
				at[id] = len(out)
				out = append(out, item)
				continue
			}
			out[i] = joined(out[i], item, n.Item())
		}
		return out
	}
	return more
}
