package patch

import (
	"fmt"
	"slices"
)

// settleList writes a target list in live's words, by the way its items are
// matched.
func (m *merge) settleList(target, live, stored []any, p place) []any {
	switch {
	case p.node.keyed() && m.sentWhole(p):
		return m.settleWhole(target, live, stored, p)
	case p.node.keyed():
		return m.settleKeyed(target, live, stored, p)
	case p.node != nil && p.node.merges && m.allWhole:
		return unionScalars(target, live, stored)
	}
	return settleAtomic(target, live, p.node)
}

func (m *merge) settleKeyed(target, live, stored []any, p place) []any {
	key := p.node.mergeKey
	out := make([]any, len(target))
	for i, item := range target {
		id := keyOf(item, key)
		out[i] = m.settle(item, findKey(live, key, id), findKey(stored, key, id), p.item())
	}
	return out
}

// settleAtomic takes live's item where it says what the target's says and all
// that it has beyond are the API server's known defaults. Any other extra field
// is drift: the list is the chart's as a whole.
func settleAtomic(target, live []any, n *node) []any {
	out := make([]any, len(target))
	for i, item := range target {
		out[i] = item
		if i < len(live) && coversAtomic(live[i], item, n.item()) {
			out[i] = live[i]
		}
	}
	return out
}

// settleWhole merges a list by its items' full identity (merge key, protocol
// and, where that is given twice, the position among its namesakes), and keeps
// live's items that the chart never had.
func (m *merge) settleWhole(target, live, stored []any, p place) []any {
	key := p.node.mergeKey
	liveByID, storedByID := identities(live, key), identities(stored, key)
	taken := map[string]bool{}
	out := make([]any, 0, len(target))
	seen := map[string]int{}
	for _, item := range target {
		id := nextIdentity(item, key, seen)
		taken[id] = true
		lv, sv := liveByID[id], storedByID[id]
		if misnamed(lv, sv, item, target, stored) {
			lv = nil
		}
		settled := m.settle(item, lv, sv, p.item())
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

// misnamed says of live's item that it has the name of another item of the list: a
// patch that can't tell two ports of one number apart has mixed two items, and
// nothing of it is worth keeping. A name that nobody else has is a rename.
func misnamed(live, stored, target any, lists ...[]any) bool {
	lives := itemName(live)
	if lives == "" || lives == itemName(target) || lives == itemName(stored) {
		return false
	}
	return slices.ContainsFunc(slices.Concat(lists...), func(other any) bool { return itemName(other) == lives })
}

func itemName(item any) string {
	m, _ := item.(map[string]any)
	text, _ := m["name"].(string)
	return text
}

// mergeItem merges one list item to what it is to be, whole.
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
	return applyJSONMerge(copied(lv), jsonMergePatch(sv, lv, tv))
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
	id := fmt.Sprint(keyOf(item, key))
	if m, ok := item.(map[string]any); ok {
		protocol, _ := m["protocol"].(string)
		if protocol != "" && protocol != "TCP" {
			id += "/" + protocol
		}
	}
	seen[id]++
	return fmt.Sprintf("%s#%d", id, seen[id])
}

// keyOf is the merge key's value as it is compared, nil when there is none.
func keyOf(item any, key string) any {
	m, ok := item.(map[string]any)
	if !ok {
		return nil
	}
	switch v := number(m[key]).(type) {
	case string, int64, float64, bool:
		return v
	}
	return nil
}

func findKey(list []any, key string, id any) any {
	if id == nil {
		return nil
	}
	for _, item := range list {
		if keyOf(item, key) == id {
			return item
		}
	}
	return nil
}

// unionScalars merges a set of scalars (finalizers) into one list.
func unionScalars(target, live, stored []any) []any {
	out := append([]any{}, target...)
	for _, v := range live {
		if !contains(target, v) && !contains(stored, v) {
			out = append(out, v)
		}
	}
	return out
}

func contains(list []any, v any) bool {
	for _, e := range list {
		if equalScalars(e, v, nil) {
			return true
		}
	}
	return false
}
