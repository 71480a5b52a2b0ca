package fielddiff

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// ofMaps reports whether the lists hold only maps, and at least one.
func ofMaps(lists ...[]any) bool {
	some := false
	for _, list := range lists {
		for _, item := range list {
			if _, ok := item.(map[string]any); !ok {
				return false
			}
			some = true
		}
	}
	return some
}

// list compares lists by the best names that identify all of their items, or by alignment without
// any.
func (d *differ) list(path string, from, to []any, n *apitypes.Node) {
	if !ofMaps(from, to) {
		d.scalars(path, from, to, n)
		return
	}
	for _, names := range naming(n) {
		fromNames, ok := label(from, names)
		if !ok {
			continue
		}
		toNames, ok := label(to, names)
		if !ok {
			continue
		}
		d.named(path, newItems(fromNames, from), newItems(toNames, to), n)
		return
	}
	fromNames, ok := identities(from)
	toNames, fits := identities(to)
	if ok && fits && !n.Keyed() {
		d.named(path, newItems(fromNames, from), newItems(toNames, to), n)
		return
	}
	d.aligned(path, from, to, n)
}

// scalars compares lists of the same length position by position, as people
// read arguments of a command, and other lists as a whole.
func (d *differ) scalars(path string, from, to []any, n *apitypes.Node) {
	if len(from) != len(to) || n != nil && n.Merges {
		d.add(path, from, to)
		return
	}
	for i := range from {
		d.field(at(path, i), from[i], to[i], n.Item())
	}
}

// nestedName names items that are objects themselves, such as a StatefulSet's claim templates.
const nestedName = "metadata.name"

// naming returns the ways to name the items of a list, the best first. Ports
// have names that read better than their numbers.
func naming(n *apitypes.Node) [][]string {
	if !n.Keyed() {
		return [][]string{{"name"}, {nestedName}}
	}
	switch key := n.MergeKey; key {
	case "port", "containerPort":
		return [][]string{{"name"}, {key}, {key, "protocol"}}
	default:
		return [][]string{{key}}
	}
}

// label names each item by its values of the given fields; it returns false if
// two items share a name or one has none.
func label(list []any, fields []string) ([]string, bool) {
	names, seen := make([]string, len(list)), make(map[string]bool, len(list))
	for i, item := range list {
		name := ""
		for j, field := range fields {
			v := jsontree.KeyOf(item, field)
			if field == nestedName {
				v = jsontree.KeyOf(metadataOf(item), "name")
			}
			if v == nil && field == "protocol" {
				v = "TCP"
			}
			if v == nil || v == "" {
				return nil, false
			}
			if j > 0 {
				name += "/"
			}
			name += fmt.Sprint(v)
		}
		if seen[name] {
			return nil, false
		}
		names[i], seen[name] = name, true
	}
	return names, true
}

func metadataOf(item any) any {
	m, _ := item.(map[string]any)
	return m["metadata"]
}

// items are those of a list, by their unique names.
type items struct {
	names  []string
	values []any
	of     map[string]any
}

func newItems(names []string, values []any) items {
	of := make(map[string]any, len(names))
	for i, name := range names {
		of[name] = values[i]
	}
	return items{names, values, of}
}

// named compares lists whose items have unique names. If the items that stay change their order,
// that is a change of the list.
func (d *differ) named(path string, from, to items, n *apitypes.Node) {
	var kept []string
	for i, name := range from.names {
		at := path + "[" + name + "]"
		tv, ok := to.of[name]
		if !ok {
			d.add(at, plain(from.values[i]), nil)
			continue
		}
		kept = append(kept, name)
		d.item(at, from.values[i], tv, n)
	}
	var order []string
	for i, name := range to.names {
		if _, ok := from.of[name]; ok {
			order = append(order, name)
			continue
		}
		d.add(path+"["+name+"]", nil, plain(to.values[i]))
	}
	if !slices.Equal(kept, order) {
		d.add(path, anys(kept), anys(order))
	}
}

// item compares two items of the same name. It shows a variable as env[DEBUG], not
// env[DEBUG].value.
func (d *differ) item(path string, from, to any, n *apitypes.Node) {
	if f, t := plain(from), plain(to); jsontree.IsScalar(f) && jsontree.IsScalar(t) {
		if !apitypes.Equal(f, t, nil) {
			d.add(path, f, t)
		}
		return
	}
	d.field(path, from, to, n.Item())
}

// plain returns the value of an item that has only a name and a value, and any other item as it is.
func plain(item any) any {
	m, ok := item.(map[string]any)
	if !ok || len(m) > 2 {
		return item
	}
	_, hasName := m["name"].(string)
	value, hasValue := m["value"].(string)
	if hasName && hasValue {
		return value
	}
	return item
}

func anys(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
