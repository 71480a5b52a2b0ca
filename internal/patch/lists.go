package patch

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// normalizeList normalises a target list to live, depending on how its items are matched.
func (m *merge) normalizeList(target, live, stored []any, p fieldPath) []any {
	switch {
	case p.node.Keyed() && m.sentWhole(p):
		return m.normalizeWhole(target, live, stored, p)
	case p.node.Keyed():
		return m.normalizeKeyed(target, live, stored, p)
	case p.node != nil && p.node.Merges && m.allWhole:
		return unionScalars(target, live, stored)
	}
	return normalizeAtomic(target, live, p.node)
}

func (m *merge) normalizeKeyed(target, live, stored []any, p fieldPath) []any {
	key := p.node.MergeKey
	lives, was := jsontree.Finder(live, key), jsontree.Finder(stored, key)
	out := make([]any, len(target))
	for i, item := range target {
		id := jsontree.KeyOf(item, key)
		out[i] = m.normalize(item, lives(id), was(id), p.item())
	}
	return out
}

// normalizeAtomic uses live's item where it equals the target's except for known defaults of the
// API server. Any other additional field is drift: an atomic list belongs to the chart as a whole.
func normalizeAtomic(target, live []any, n *apitypes.Node) []any {
	out := make([]any, len(target))
	for i, item := range target {
		out[i] = item
		if i < len(live) && apitypes.CoversAtomic(live[i], item, n.Item()) {
			out[i] = live[i]
		}
	}
	return out
}

// normalizeWhole merges a list by its items' full identity: the merge key, the protocol and, for
// duplicates, the position among the items with the same key. It keeps live's items that the chart
// never had.
func (m *merge) normalizeWhole(target, live, stored []any, p fieldPath) []any {
	key := p.node.MergeKey
	liveByID, storedByID := identities(live, key), identities(stored, key)
	taken := map[string]bool{}
	out := make([]any, 0, len(target))
	seen := map[string]int{}
	names := itemNames(target, stored)
	for _, item := range target {
		id := nextIdentity(item, key, seen)
		taken[id] = true
		lv, sv := liveByID[id], storedByID[id]
		if misnamed(lv, sv, item, names) {
			lv = nil
		}
		settled := m.normalize(item, lv, sv, p.item())
		out = append(out, mergeItem(sv, lv, settled))
	}
	seen = map[string]int{}
	for _, item := range live {
		id := nextIdentity(item, key, seen)
		if _, ours := storedByID[id]; !ours && !taken[id] {
			out = append(out, item)
		}
	}
	return out
}

// misnamed reports whether live's item has the name of another item of the list, among names: then a patch that
// did not distinguish two ports with the same number has mixed up two items, and none of its fields
// are kept. A name that no other item has is a rename.
func misnamed(live, stored, target any, names map[string]bool) bool {
	lives := itemName(live)
	if lives == "" || lives == itemName(target) || lives == itemName(stored) {
		return false
	}
	return names[lives]
}

// itemNames returns the names of all items.
func itemNames(lists ...[]any) map[string]bool {
	names := map[string]bool{}
	for _, list := range lists {
		for _, item := range list {
			names[itemName(item)] = true
		}
	}
	return names
}

func itemName(item any) string {
	m, _ := item.(map[string]any)
	text, _ := m["name"].(string)
	return text
}

// mergeItem returns the merged list item, whole.
func mergeItem(stored, live, target any) any {
	lv, ok := live.(map[string]any)
	if !ok {
		return target
	}
	tv, ok := target.(map[string]any)
	if !ok {
		return target
	}
	sv, _ := stored.(map[string]any)
	return applyJSONMerge(jsontree.Copy(lv), jsonMergePatch(sv, lv, tv))
}

func identities(list []any, key string) map[string]any {
	out := make(map[string]any, len(list))
	seen := map[string]int{}
	for _, item := range list {
		out[nextIdentity(item, key, seen)] = item
	}
	return out
}

func nextIdentity(item any, key string, seen map[string]int) string {
	id := fmt.Sprint(jsontree.KeyOf(item, key))
	if m, ok := item.(map[string]any); ok {
		protocol, _ := m["protocol"].(string)
		if protocol != "" && protocol != "TCP" {
			id += "/" + protocol
		}
	}
	seen[id]++
	return fmt.Sprintf("%s#%d", id, seen[id])
}

// unionScalars merges a set of scalars (finalizers) into one list.
func unionScalars(target, live, stored []any) []any {
	out := append([]any{}, target...)
	for _, v := range live {
		if !apitypes.Contains(target, v) && !apitypes.Contains(stored, v) {
			out = append(out, v)
		}
	}
	return out
}
