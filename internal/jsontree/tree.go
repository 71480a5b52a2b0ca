// Package jsontree has what every package needs for decoded JSON: copying,
// comparing, finding a list's items by key, and the paths that name fields.
//
// It knows nothing of kinds: internal/apitypes does.
package jsontree

import (
	stdjson "encoding/json"
	"math"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/json"
)

// Canonical returns a JSON value with every whole number as int64: the value
// itself if that is so already. A nil map or list becomes an empty one.
func Canonical(v any) any {
	if isCanonical(v) {
		return v
	}
	return Copy(v)
}

func isCanonical(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !isCanonical(e) {
				return false
			}
		}
		return v != nil
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !isCanonical(e) })
	case nil, string, bool, int64:
		return true
	}
	return Number(v) == v
}

// Copy is Canonical with nothing shared, so the copy may be changed.
func Copy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = Copy(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Copy(e)
		}
		return out
	}
	return Number(v)
}

// Number converts whole numbers to int64 and other numbers to float64, from int,
// int32, uint64, floats and json.Number. Everything else is returned as it is, and
// so is a whole number that does not fit.
func Number(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
	case float32:
		return Number(float64(v))
	case float64:
		// Beyond 2^53 a float no longer says which whole number was meant.
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case stdjson.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if f, err := v.Float64(); err == nil {
			return Number(f)
		}
	}
	return v
}

// Same reports whether two canonical documents are identical: reflect.DeepEqual
// for JSON values, and faster.
func Same(a, b any) bool {
	switch av := a.(type) {
	case map[string]any:
		bv, ok := b.(map[string]any)
		return ok && sameMaps(av, bv)
	case []any:
		bv, ok := b.([]any)
		return ok && slices.EqualFunc(av, bv, Same)
	case nil, string, bool, int64, float64:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

func sameMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	if Identical(a, b) {
		return true
	}
	for k, av := range a {
		if bv, ok := b[k]; !ok || !Same(av, bv) {
			return false
		}
	}
	return true
}

// KeyOf returns the merge key's value in the form that is compared, nil when there is none.
func KeyOf(item any, key string) any {
	m, ok := item.(map[string]any)
	if !ok {
		return nil
	}
	switch v := Number(m[key]).(type) {
	case string, int64, float64, bool:
		return v
	}
	return nil
}

// Find returns the item of a list whose merge key has the value id, as KeyOf
// returns it; nil when there is none.
func Find(list []any, key string, id any) any {
	if id == nil {
		return nil
	}
	for _, item := range list {
		if KeyOf(item, key) == id {
			return item
		}
	}
	return nil
}

// Finder returns Find for a list in which many items are looked up: a long one is indexed, so that
// matching two lists does not take a step for each pair of items.
func Finder(list []any, key string) func(id any) any {
	const short = 16 // comparing is faster
	if len(list) <= short {
		return func(id any) any { return Find(list, key, id) }
	}
	items := make(map[any]any, len(list))
	for _, item := range slices.Backward(list) { // the first of several counts
		if id := KeyOf(item, key); id != nil {
			items[id] = item
		}
	}
	return func(id any) any { return items[id] }
}

// Keys returns the keys of both maps, each once, sorted.
func Keys(a, b map[string]any) []string {
	keys := make([]string, 0, len(a)+len(b))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// IsScalar reports whether v is neither a map nor a list.
func IsScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// Unmarshal decodes a JSON object. Whole numbers become int64, others float64.
func Unmarshal(data []byte, into *map[string]any) error { return json.Unmarshal(data, into) }
