package patch

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Agree says that the three documents agree: live has all that target says, and
// there is nothing that stored had and target dropped. Then ThreeWay would give
// an empty patch, and the API server need not be asked. When in doubt it says
// no. It copies nothing but Secrets with stringData, and is meant for thousands
// of objects.
func Agree(stored, live, target *unstructured.Unstructured) bool {
	if stored == nil || live == nil || target == nil {
		return false
	}
	version := target.GetAPIVersion()
	if stored.GetAPIVersion() != version || live.GetAPIVersion() != version {
		return false
	}
	root := builtin().kind(target.GroupVersionKind())
	s, t := merged(stored), merged(target)
	return agreeDocs(s, live.Object, t, root) && !addsNull(s, t)
}

// addsNull says that target has a null where stored has nothing: it removes what
// live may have there.
func addsNull(stored, target any) bool {
	switch tv := target.(type) {
	case map[string]any:
		sv, _ := stored.(map[string]any)
		for k, v := range tv {
			if was, ok := sv[k]; v == nil && !ok || addsNull(was, v) {
				return true
			}
		}
	case []any:
		sv, _ := stored.([]any)
		for i, v := range tv {
			if i >= len(sv) || addsNull(sv[i], v) {
				return true
			}
		}
	}
	return false
}

// merged is the document, with a Secret's stringData folded into its data.
func merged(u *unstructured.Unstructured) map[string]any {
	if _, ok := u.Object["stringData"]; ok && isSecret(u) {
		return prepare(u)
	}
	return u.Object
}

func agreeDocs(stored, live, target map[string]any, root *node) bool {
	for k, tv := range target {
		if apart(k) {
			continue
		}
		n, lv, sv := root.child(k), live[k], stored[k]
		if k == "metadata" {
			if !agreeMetadata(sv, lv, tv, n) {
				return false
			}
			continue
		}
		if !equal(sv, tv, n) || !covers(lv, tv, n) {
			return false
		}
	}
	for k, sv := range stored {
		if _, ok := target[k]; !ok && !apart(k) && !zero(sv, root.child(k)) {
			return false
		}
	}
	return true
}

func agreeMetadata(stored, live, target any, n *node) bool {
	sv, _ := stored.(map[string]any)
	lv, isLive := live.(map[string]any)
	tv, isTarget := target.(map[string]any)
	if !isLive || !isTarget {
		return false
	}
	for k, v := range tv {
		if !serverOwned(k) && (!equal(sv[k], v, n.child(k)) || !covers(lv[k], v, n.child(k))) {
			return false
		}
	}
	for k, v := range sv {
		if _, ok := tv[k]; !ok && !serverOwned(k) && !zero(v, n.child(k)) {
			return false
		}
	}
	return true
}

// covers says that live has what target says. Maps and lists with merge keys
// may hold more.
func covers(live, target any, n *node) bool {
	switch tv := target.(type) {
	case map[string]any:
		lv, ok := live.(map[string]any)
		if !ok {
			return live == nil && zero(target, n)
		}
		if n != nil && n.replaces {
			return coversAtomic(live, target, n)
		}
		for k, v := range tv {
			if !covers(lv[k], v, n.child(k)) {
				return false
			}
		}
		return true
	case []any:
		lv, ok := live.([]any)
		if !ok {
			return live == nil && zero(target, n)
		}
		return coversList(lv, tv, n)
	case nil:
		return true
	case bool:
		return equal(live, target, n)
	}
	return equal(live, target, n) || zero(target, n) && isScalar(live)
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func coversList(live, target []any, n *node) bool {
	switch {
	case n.keyed():
		return coversKeyed(live, target, n)
	case n != nil && n.merges:
		for _, v := range target {
			if !contains(live, v) {
				return false
			}
		}
		return true
	case len(live) != len(target):
		return false
	}
	for i := range target {
		if !coversAtomic(live[i], target[i], n.item()) {
			return false
		}
	}
	return true
}

// coversKeyed walks both lists once: an order that differs is a difference.
func coversKeyed(live, target []any, n *node) bool {
	next := 0
	for _, item := range target {
		key := keyOf(item, n.mergeKey)
		if key == nil {
			return false
		}
		for next < len(live) && keyOf(live[next], n.mergeKey) != key {
			next++
		}
		if next == len(live) || !covers(live[next], item, n.item()) {
			return false
		}
		next++
	}
	return true
}

// coversAtomic compares the items of a list that is set as a whole: all that
// live may have beyond target are the API server's known defaults.
func coversAtomic(live, target any, n *node) bool {
	tv, ok := target.(map[string]any)
	if !ok {
		return equal(live, target, n)
	}
	lv, ok := live.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range tv {
		if !coversAtomicField(lv[k], v, n.child(k)) {
			return false
		}
	}
	for k, v := range lv {
		if _, ok := tv[k]; !ok && !zero(v, n.child(k)) && !defaulted(k, v, n) {
			return false
		}
	}
	return true
}

func coversAtomicField(live, target any, n *node) bool {
	tv, ok := target.([]any)
	if !ok {
		return coversAtomic(live, target, n)
	}
	lv, ok := live.([]any)
	if !ok || len(lv) != len(tv) {
		return equal(live, target, n)
	}
	for i := range tv {
		if !coversAtomic(lv[i], tv[i], n.item()) {
			return false
		}
	}
	return true
}
