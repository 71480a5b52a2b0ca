// Package values computes the values that a chart is rendered with: it parses YAML, applies --set
// and its variants, reuses an earlier revision's values, merges defaults and globals along the
// chart tree, enables and disables dependencies and checks values against schemas. Unless stated
// otherwise, the rules are those of Helm 4.3.1 (https://github.com/helm/helm/tree/v4.3.1/pkg:
// cli/values and strvals for what users give, chart/common/util for merging and schemas,
// chart/v2/util for dependencies).
//
// It does not read files (callers pass content or a read function), does not render, and never
// changes its arguments, except for Set.
package values

// globalKey is the key of the table that all charts of the tree share.
const globalKey = "global"

func isTable(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// clone copies tables and lists recursively. Scalars are shared.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return Clone(v)
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}

// Clone copies a table with all tables and lists in it; nil becomes an empty table.
func Clone(t map[string]any) map[string]any {
	out := make(map[string]any, len(t))
	for k, v := range t {
		out[k] = clone(v)
	}
	return out
}

// Overlay merges tables: upper's keys override lower's, nested tables are merged key by key. The
// result shares content with both.
func Overlay(lower, upper map[string]any) map[string]any {
	out := make(map[string]any, len(lower)+len(upper))
	for k, v := range lower {
		out[k] = v
	}
	for k, v := range upper {
		below, ok := out[k].(map[string]any)
		above, isMap := v.(map[string]any)
		if ok && isMap {
			out[k] = Overlay(below, above)
			continue
		}
		out[k] = v
	}
	return out
}
