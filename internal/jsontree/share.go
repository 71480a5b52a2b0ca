package jsontree

// Share returns v with the parts that are equal to with's in the same places replaced by
// these, so that documents which are much alike are kept once: objects of one kind that a
// chart generates have most of their fields in common, and a map takes some hundred
// bytes. v is changed; afterwards neither may be changed in place.
func Share(v, with any) any {
	shared, _ := share(v, with)
	return shared
}

func share(v, with any) (shared any, same bool) {
	switch v := v.(type) {
	case map[string]any:
		w, ok := with.(map[string]any)
		if !ok {
			return v, false
		}
		same = len(v) == len(w)
		for key, value := range v {
			other, ok := w[key]
			if !ok {
				same = false
				continue
			}
			next, equal := share(value, other)
			v[key] = next
			same = same && equal
		}
		if same {
			return w, true
		}
		return v, false
	case []any:
		w, ok := with.([]any)
		if !ok {
			return v, false
		}
		same = len(v) == len(w)
		for i := range min(len(v), len(w)) {
			next, equal := share(v[i], w[i])
			v[i] = next
			same = same && equal
		}
		if same && len(v) > 0 {
			return w, true
		}
		return v, same
	case nil, string, bool, int64, float64:
		if v == with {
			return with, true
		}
	}
	return v, false
}
