package templating

import "reflect"

// adapt wraps a function with a common signature so that calls need no reflection. Most calls in
// charts have one of these few signatures. It returns nil for others.
func adapt(fn reflect.Value) func([]any) (any, error) {
	raw := fn.Interface()
	for _, try := range []func(any) func([]any) (any, error){adaptText, adaptAny, adaptTable, adaptMany} {
		if f := try(raw); f != nil {
			return f
		}
	}
	return nil
}

func text(v any) string { t, _ := v.(string); return t }
func number(v any) int  { n, _ := v.(int); return n }
func table(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func adaptText(raw any) func([]any) (any, error) {
	switch f := raw.(type) {
	case func(string) string:
		return func(a []any) (any, error) { return f(text(a[0])), nil }
	case func(string, string) string:
		return func(a []any) (any, error) { return f(text(a[0]), text(a[1])), nil }
	case func(string, string, string) string:
		return func(a []any) (any, error) { return f(text(a[0]), text(a[1]), text(a[2])), nil }
	case func(string, string) bool:
		return func(a []any) (any, error) { return f(text(a[0]), text(a[1])), nil }
	case func(string, string) (bool, error):
		return func(a []any) (any, error) { return f(text(a[0]), text(a[1])) }
	case func(string, string) []string:
		return func(a []any) (any, error) { return f(text(a[0]), text(a[1])), nil }
	case func(int, string) string:
		return func(a []any) (any, error) { return f(number(a[0]), text(a[1])), nil }
	case func(string) map[string]any:
		return func(a []any) (any, error) { return f(text(a[0])), nil }
	case func(string) []any:
		return func(a []any) (any, error) { return f(text(a[0])), nil }
	case func(string, any) string:
		return func(a []any) (any, error) { return f(text(a[0]), a[1]), nil }
	case func(string, any) bool:
		return func(a []any) (any, error) { return f(text(a[0]), a[1]), nil }
	}
	return nil
}

func adaptAny(raw any) func([]any) (any, error) {
	switch f := raw.(type) {
	case func(any) string:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any) bool:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any) int:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any) int64:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any) float64:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any) any:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any) (int, error):
		return func(a []any) (any, error) { return f(a[0]) }
	case func(any) []any:
		return func(a []any) (any, error) { return f(a[0]), nil }
	case func(any, any) (bool, error):
		return func(a []any) (any, error) { return f(a[0], a[1]) }
	case func(any, any) bool:
		return func(a []any) (any, error) { return f(a[0], a[1]), nil }
	case func(any, any) []any:
		return func(a []any) (any, error) { return f(a[0], a[1]), nil }
	case func(any, any) int64:
		return func(a []any) (any, error) { return f(a[0], a[1]), nil }
	case func(any, any, bool) any:
		return func(a []any) (any, error) { b, _ := a[2].(bool); return f(a[0], a[1], b), nil }
	}
	return nil
}

func adaptTable(raw any) func([]any) (any, error) {
	switch f := raw.(type) {
	case func(map[string]any, string) bool:
		return func(a []any) (any, error) { return f(table(a[0]), text(a[1])), nil }
	case func(map[string]any, string) any:
		return func(a []any) (any, error) { return f(table(a[0]), text(a[1])), nil }
	case func(map[string]any, string) map[string]any:
		return func(a []any) (any, error) { return f(table(a[0]), text(a[1])), nil }
	case func(map[string]any, string, any) map[string]any:
		return func(a []any) (any, error) { return f(table(a[0]), text(a[1]), a[2]), nil }
	case func(map[string]any, ...map[string]any) (any, error):
		return func(a []any) (any, error) { return f(table(a[0]), tables(a[1:])...) }
	case func(map[string]any, ...string) map[string]any:
		return func(a []any) (any, error) { return f(table(a[0]), texts(a[1:])...), nil }
	case func(...map[string]any) []string:
		return func(a []any) (any, error) { return f(tables(a)...), nil }
	}
	return nil
}

func adaptMany(raw any) func([]any) (any, error) {
	switch f := raw.(type) {
	case func(...any) string:
		return func(a []any) (any, error) { return f(a...), nil }
	case func(...any) any:
		return func(a []any) (any, error) { return f(a...), nil }
	case func(...any) []any:
		return func(a []any) (any, error) { return f(a...), nil }
	case func(...any) bool:
		return func(a []any) (any, error) { return f(a...), nil }
	case func(...any) int64:
		return func(a []any) (any, error) { return f(a...), nil }
	case func(...any) map[string]any:
		return func(a []any) (any, error) { return f(a...), nil }
	case func(...any) (any, error):
		return func(a []any) (any, error) { return f(a...) }
	case func(string, ...any) string:
		return func(a []any) (any, error) { return f(text(a[0]), a[1:]...), nil }
	case func(any, ...any) any:
		return func(a []any) (any, error) { return f(a[0], a[1:]...), nil }
	case func(any, ...any) (any, error):
		return func(a []any) (any, error) { return f(a[0], a[1:]...) }
	case func(any, ...any) (bool, error):
		return func(a []any) (any, error) { return f(a[0], a[1:]...) }
	case func(any, ...any) int64:
		return func(a []any) (any, error) { return f(a[0], a[1:]...), nil }
	}
	return nil
}

func tables(args []any) []map[string]any {
	out := make([]map[string]any, len(args))
	for i, a := range args {
		out[i] = table(a)
	}
	return out
}

func texts(args []any) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = text(a)
	}
	return out
}
