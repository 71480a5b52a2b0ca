package values

import (
	"fmt"
	"maps"
	"slices"
)

// place is where a table or a value is in the user's values: a chain, since a path for each of many
// deep tables would take much more memory.
type place struct {
	above *place
	key   string
}

func (p *place) path() []string {
	var path []string
	for ; p != nil; p = p.above {
		path = append(path, p.key)
	}
	slices.Reverse(path)
	return path
}

// given is a table that the user gives.
type given struct {
	at    *place
	table map[string]any
}

// valuesTable is one table of the values, or the tables in a list: as the user gives it, as templates
// get it and as in the defaults.
type valuesTable struct {
	branch   *Branch
	user     []given
	tables   []map[string]any
	defaults []map[string]any
}

// userKey is a key of a valuesTable that the user gives, and what is below it.
type userKey struct {
	branch *Branch
	first  *place
	more   int
	known  bool
	// table is what tables are under the key, items those that are in lists. A key that is read from one
	// item counts as read from all items, which also share their known keys.
	table, items valuesTable
}

// keys returns the keys that the user gives. It visits each entry of the tables once, or fewer: all
// items of a list may have keys of their own.
func (t valuesTable) keys() map[string]*userKey {
	keys := map[string]*userKey{}
	for _, g := range t.user {
		for name, v := range g.table {
			if v == nil {
				continue
			}
			k := keys[name]
			if k == nil {
				k = &userKey{branch: &Branch{Above: t.branch}, first: g.at}
				keys[name] = k
			} else {
				k.more++
			}
			k.give(&place{g.at, name}, v)
		}
	}
	for _, t := range t.tables {
		eachShared(t, keys, func(k *userKey, v any) {
			k.table.tables, k.items.tables = collect(k.table.tables, k.items.tables, v)
		})
	}
	for _, t := range t.defaults {
		eachShared(t, keys, func(k *userKey, v any) {
			k.known = true
			k.table.defaults, k.items.defaults = collect(k.table.defaults, k.items.defaults, v)
		})
	}
	return keys
}

func (k *userKey) give(at *place, v any) {
	switch v := v.(type) {
	case map[string]any:
		k.table.user = append(k.table.user, given{at, v})
	case []any:
		for i, item := range v {
			if t, ok := item.(map[string]any); ok {
				k.items.user = append(k.items.user, given{&place{at, fmt.Sprintf("[%d]", i)}, t})
			}
		}
	}
}

// collect appends a table to tables, or the tables in a list to items.
func collect(tables, items []map[string]any, v any) (newTables, newItems []map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		tables = append(tables, v)
	case []any:
		for _, item := range v {
			if t, ok := item.(map[string]any); ok {
				items = append(items, t)
			}
		}
	}
	return tables, items
}

// eachShared calls do for each key that the table has, too.
func eachShared(table map[string]any, keys map[string]*userKey, do func(k *userKey, v any)) {
	if len(keys) < len(table) {
		for name, k := range keys {
			if v, ok := table[name]; ok {
				do(k, v)
			}
		}
		return
	}
	for name, v := range table {
		if k, ok := keys[name]; ok {
			do(k, v)
		}
	}
}

func unknown(keys map[string]*userKey) []UnknownKey {
	var out []UnknownKey
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if k := keys[name]; !k.known {
			out = append(out, UnknownKey{Name: name, More: k.more, Branch: k.branch, first: k.first})
		}
	}
	return out
}

// known returns the keys of all tables, sorted.
func known(tables []map[string]any) []string {
	keys := map[string]bool{}
	for _, t := range tables {
		for key := range t {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}
