package jsontree

import "reflect"

// Share returns v with the parts that equal a's, or else b's, at the same path replaced by
// those, so documents that are much alike are kept once: objects of one kind that a chart
// generates have most of their fields in common, and so do two revisions of an object, and a
// map takes some hundred bytes. v is changed; afterwards none of the three may be changed in
// place. nil stands for no other document.
func Share(v, a, b any) any {
	shared, _, _ := share(v, a, b)
	return shared
}

// missing stands for a field or item that a document does not have: no value is equal to it.
type missing struct{}

// share is Share, and reports whether the whole of v was found equal to a, or to b.

func share(v, a, b any) (shared any, isA, isB bool) {
	switch v := v.(type) {
	case map[string]any:
		return shareMap(v, a, b)
	case []any:
		return shareList(v, a, b)
	case nil, string, bool, int64, float64:
		switch isA, isB = v == a, v == b; {
		case isA:
			return a, isA, isB
		case isB:
			return b, isA, isB
		}
	}
	return v, false, false
}

func shareMap(v map[string]any, a, b any) (shared any, isA, isB bool) {
	inA, isA := a.(map[string]any)
	inB, isB := b.(map[string]any)
	switch {
	case isA && Identical(v, inA):
		return v, true, false
	case !isA && !isB:
		return v, false, false
	}
	isA, isB = isA && len(v) == len(inA), isB && len(v) == len(inB)
	for key, value := range v {
		next, equalA, equalB := share(value, field(inA, key), field(inB, key))
		if equalA || equalB {
			v[key] = next
		}
		isA, isB = isA && equalA, isB && equalB
	}
	switch {
	case isA:
		return a, isA, isB
	case isB:
		return b, isA, isB
	}
	return v, false, false
}

func shareList(v []any, a, b any) (shared any, isA, isB bool) {
	inA, isA := a.([]any)
	inB, isB := b.([]any)
	isA, isB = isA && len(v) == len(inA), isB && len(v) == len(inB)
	for i, value := range v {
		next, equalA, equalB := share(value, item(inA, i), item(inB, i))
		if equalA || equalB {
			v[i] = next
		}
		isA, isB = isA && equalA, isB && equalB
	}
	switch {
	case isA && len(v) > 0:
		return a, isA, isB
	case isB && len(v) > 0:
		return b, isA, isB
	}
	return v, isA, isB
}

func field(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}

func item(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return missing{}
}

// Identical reports whether two maps are one and the same, as those that Share has shared are.
func Identical(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
