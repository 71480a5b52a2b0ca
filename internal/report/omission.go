package report

import "github.com/kubectl-release/kubectl-release/internal/jsontree"

// omitted stands for omitted items of a list, and a partial map is one without the entries that are equal.
type (
	omitted struct{}
	partial map[string]any
)

// onlyDifferent omits the equal beginnings and ends of two lists, and the equal entries of two
// maps.
func onlyDifferent(from, to any) (any, any) {
	switch a := from.(type) {
	case []any:
		if b, ok := to.([]any); ok {
			return differentItems(a, b)
		}
	case map[string]any:
		if b, ok := to.(map[string]any); ok {
			return differentKeys(a, b), differentKeys(b, a)
		}
	}
	return from, to
}

func differentItems(a, b []any) (from, to []any) {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && same(a[head], b[head]) {
		head++
	}
	for tail < min(len(a), len(b))-head && same(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	return middle(a, head, tail), middle(b, head, tail)
}

func middle(list []any, head, tail int) []any {
	var out []any
	if head > 0 {
		out = append(out, omitted{})
	}
	out = append(out, list[head:len(list)-tail]...)
	if tail > 0 {
		out = append(out, omitted{})
	}
	return out
}

func differentKeys(m, other map[string]any) any {
	out := map[string]any{}
	for key, v := range m {
		if o, ok := other[key]; !ok || !same(o, v) {
			out[key] = v
		}
	}
	if len(out) < len(m) {
		return partial(out)
	}
	return out
}

func same(a, b any) bool { return jsontree.Same(jsontree.Canonical(a), jsontree.Canonical(b)) }
