package apitypes

import "github.com/kubectl-release/kubectl-release/internal/jsontree"

// Covers reports whether live has everything that target has. Maps and lists with
// merge keys may hold more.
func Covers(live, target any, n *Node) bool {
	switch tv := target.(type) {
	case map[string]any:
		lv, ok := live.(map[string]any)
		if !ok {
			return live == nil && Zero(target, n)
		}
		if n != nil && n.Replaces {
			return CoversAtomic(live, target, n)
		}
		for k, v := range tv {
			if !Covers(lv[k], v, n.Child(k)) {
				return false
			}
		}
		return true
	case []any:
		lv, ok := live.([]any)
		if !ok {
			return live == nil && Zero(target, n)
		}
		return coversList(lv, tv, n)
	case nil:
		return true
	case bool:
		return Equal(live, target, n)
	}
	return Equal(live, target, n) || Zero(target, n) && !n.ZeroIsDefault() && jsontree.IsScalar(live)
}

func coversList(live, target []any, n *Node) bool {
	switch {
	case n.Keyed():
		return coversKeyed(live, target, n)
	case n != nil && n.Merges:
		for _, v := range target {
			if !Contains(live, v) {
				return false
			}
		}
		return true
	case len(live) != len(target):
		return false
	}
	for i := range target {
		if !CoversAtomic(live[i], target[i], n.Item()) {
			return false
		}
	}
	return true
}

// coversKeyed walks both lists once: a different order is a difference.
func coversKeyed(live, target []any, n *Node) bool {
	next := 0
	for _, item := range target {
		key := jsontree.KeyOf(item, n.MergeKey)
		if key == nil {
			return false
		}
		for next < len(live) && jsontree.KeyOf(live[next], n.MergeKey) != key {
			next++
		}
		if next == len(live) || !Covers(live[next], item, n.Item()) {
			return false
		}
		next++
	}
	return true
}

// CoversAtomic is Covers for an item of a list that is set as a whole: beyond target,
// live may have only known defaults.
func CoversAtomic(live, target any, n *Node) bool {
	tv, ok := target.(map[string]any)
	if !ok {
		return Equal(live, target, n)
	}
	lv, ok := live.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range tv {
		if !coversAtomicField(lv[k], v, n.Child(k)) {
			return false
		}
	}
	for k, v := range lv {
		if _, ok := tv[k]; !ok && !Zero(v, n.Child(k)) && !Defaulted(k, v, n) {
			return false
		}
	}
	return true
}

func coversAtomicField(live, target any, n *Node) bool {
	tv, ok := target.([]any)
	if !ok {
		return CoversAtomic(live, target, n)
	}
	lv, ok := live.([]any)
	if !ok || len(lv) != len(tv) {
		return Equal(live, target, n)
	}
	for i := range tv {
		if !CoversAtomic(lv[i], tv[i], n.Item()) {
			return false
		}
	}
	return true
}

// Contains reports whether the list has an item that is equal to the scalar v.
func Contains(list []any, v any) bool {
	for _, e := range list {
		if equalScalars(e, v, nil) {
			return true
		}
	}
	return false
}
