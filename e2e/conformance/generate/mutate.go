package generate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// place is a value in a tree of values: the keys that lead to it, and what is there.
type place struct {
	keys  []string
	value any
}

// Mutate returns values for a chart, to be given in a values file: some of its defaults (those of
// subcharts are below their names) changed as users change them. Switches are turned, what is empty
// is filled, what is set is emptied, and a few values get a type that the templates may not expect.
// The same seed and defaults give the same values.
func Mutate(seed uint64, defaults map[string]any) map[string]any {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(len(Kinds()))))} // as Make does for the next kind
	var switches, others []place
	for _, p := range places(nil, defaults) {
		if _, ok := p.value.(bool); ok {
			switches = append(switches, p)
		} else {
			others = append(others, p)
		}
	}
	out := map[string]any{}
	if len(switches) > 0 {
		for range 1 + m.IntN(25) {
			p := switches[m.IntN(len(switches))]
			put(out, p.keys, p.value != true)
		}
	}
	if len(others) > 0 {
		for range 1 + m.IntN(6) {
			p := others[m.IntN(len(others))]
			put(out, p.keys, m.instead(p.value))
		}
	}
	return out
}

// places lists the leaves of a tree in the order of their keys. Tables are leaves, too, in order
// to be replaced as a whole.
func places(keys []string, table map[string]any) []place {
	var out []place
	for _, k := range slices.Sorted(maps.Keys(table)) {
		at := append(slices.Clone(keys), k)
		out = append(out, place{at, table[k]})
		if sub, ok := table[k].(map[string]any); ok {
			out = append(out, places(at, sub)...)
		}
	}
	return out
}

// put sets a value in a tree. A leaf that is in the way is replaced.
func put(table map[string]any, keys []string, value any) {
	for _, k := range keys[:len(keys)-1] {
		sub, ok := table[k].(map[string]any)
		if !ok {
			sub = map[string]any{}
			table[k] = sub
		}
		table = sub
	}
	table[keys[len(keys)-1]] = value
}

// instead chooses another value for one of a chart's defaults.
func (m *maker) instead(value any) any {
	if m.chance(10) {
		return nil
	}
	if m.chance(5) {
		return m.odd()
	}
	switch v := value.(type) {
	case string:
		if v != "" && m.chance(40) {
			return ""
		}
		return m.one("x", "a-b", "1.2.3", "{{ .Release.Name }}-x", "{{ include \"no.such\" . }}", "two\nlines\n", "yes", "0x1F", "10Gi", "1e3", v+"-x", strings.ToUpper(v))
	case map[string]any:
		return m.filled()
	case []any:
		if len(v) > 0 && m.chance(60) {
			return []any{v[m.IntN(len(v))], v[0]}
		}
		return []any{[]any{"a"}, []any{"a", "b"}, []any{map[string]any{"name": "a", "value": "b"}}, []any{}, []any{1, true}}[m.IntN(5)]
	case nil:
		return []any{"x", 1, true, map[string]any{"a": "b"}, []any{"a"}}[m.IntN(5)]
	}
	return []any{0, 1, 3, -1, 1.5, 100000000, 1e21, "5"}[m.IntN(8)]
}

// filled makes a table for a value that is empty by default.
func (m *maker) filled() map[string]any {
	switch m.IntN(4) {
	case 0:
		return map[string]any{"a": "b"}
	case 1:
		return map[string]any{"app.kubernetes.io/name": "x", "b": true, "n": 1}
	case 2:
		return map[string]any{"enabled": true, "name": "{{ .Release.Name }}"}
	}
	return map[string]any{}
}

// odd is a value of a type that templates may not expect.
func (m *maker) odd() any {
	return []any{"", "x", 0, 2.5, false, true, []any{}, []any{"a"}, map[string]any{}, map[string]any{"k": nil}}[m.IntN(10)]
}
