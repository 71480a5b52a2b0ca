package values

import "strings"

// tableAt returns the table at a dotted path.
func tableAt(v map[string]any, path string) (map[string]any, bool) {
	for _, key := range strings.Split(path, ".") {
		t, ok := v[key].(map[string]any)
		if !ok {
			return nil, false
		}
		v = t
	}
	return v, true
}

// scalarAt returns the value at a dotted path, unless it is a table.
func scalarAt(v map[string]any, path string) (any, bool) {
	if i := strings.LastIndex(path, "."); i >= 0 {
		var ok bool
		if v, ok = tableAt(v, path[:i]); !ok {
			return nil, false
		}
		path = path[i+1:]
	}
	found, ok := v[path]
	return found, ok && !isTable(found)
}

// nest returns a table nested in tables along a dotted path; for ".", the table itself.
func nest(path string, t map[string]any) map[string]any {
	if path == "." {
		return t
	}
	keys := strings.Split(path, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		t = map[string]any{keys[i]: t}
	}
	return t
}
