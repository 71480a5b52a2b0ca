package values

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// UnknownKeys is a table of the user's values with keys that no chart has a default
// for. That is no mistake yet: many charts read keys without a default. What
// templates read of Tables can tell.
type UnknownKeys struct {
	// Path leads to the table from the root of the values; an index of a list is
	// written "[0]".
	Path []string
	// Tables are the table in the coalesced values, as templates get it. The
	// globals of each chart are a table of their own.
	Tables []map[string]any
	// Keys are the doubted ones, in order.
	Keys []string
	// Known are the keys that the charts do know there: defaults, names of
	// subcharts, what conditions and tags are read from.
	Known []string
	// Aliases are the names that dependencies have here, by their charts' names.
	Aliases map[string]string
}

// FindUnknownKeys are the tables of the user's values that hold keys which the charts
// do not mention in their defaults, outer tables first. loaded is the whole tree,
// processed what ProcessDependencies made of it, vals what RenderValues did. Of
// subcharts that are switched off only the keys at the top are looked at. Nulls
// are passed over.
func FindUnknownKeys(loaded, processed *chart.Chart, user, vals map[string]any) []UnknownKeys {
	d := keyChecker{globals: globalTables(processed, vals)}
	d.chart(loaded, processed, nil, user, vals, nil)
	return d.found
}

// Meant is the key that a doubted one was probably meant to be: one that the
// charts know or that templates have read there. "" when there is no such key.
func (s UnknownKeys) Meant(key string, read []string) string {
	if alias, ok := s.Aliases[key]; ok {
		return alias
	}
	candidates := slices.Concat(s.Known, read)
	slices.Sort(candidates)
	return spelling.Namesake(key, slices.Compact(candidates))
}

type keyChecker struct {
	found []UnknownKeys
	// globals are the tables of all charts under "global", defaults its known keys.
	globals  []map[string]any
	defaults []map[string]any
}

// valuesTable is one table as its several sides see it.
type valuesTable struct {
	path     []string
	tables   []map[string]any
	defaults []map[string]any
}

// chart looks at the values of one chart. defaults are what parents know of it.
func (d *keyChecker) chart(loaded, processed *chart.Chart, path []string, user, vals map[string]any, defaults []map[string]any) {
	defaults = append(slices.Clip(defaults), processed.Values, switches(loaded))
	at := valuesTable{path, []map[string]any{vals}, defaults}
	names, aliases := dependencyNames(loaded)
	known, own := map[string]any{globalKey: nil}, map[string]any{}
	for _, name := range names {
		known[name] = nil
	}
	for key, v := range user {
		if _, isSubchart := known[key]; !isSubchart {
			own[key] = v
		}
	}
	at.defaults = append(at.defaults, known)
	d.table(at, own, aliases)
	if global, ok := user[globalKey].(map[string]any); ok {
		d.table(valuesTable{longer(path, globalKey), d.globals, d.globalDefaults(processed)}, global, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		given, _ := user[name].(map[string]any)
		below, _ := vals[name].(map[string]any)
		source, sub := subchart(loaded, name), named(processed, name)
		switch {
		case given == nil || below == nil || name == globalKey || source == nil:
		case sub == nil:
			d.off(loaded, longer(path, name), given, below, defaults)
		default:
			d.chart(source, sub, longer(path, name), given, below, tablesAt(defaults, name))
		}
	}
}

// table looks at one table that the user gave, then at those in it.
func (d *keyChecker) table(at valuesTable, user map[string]any, aliases map[string]string) {
	s := UnknownKeys{Path: at.path, Tables: at.tables, Aliases: aliases}
	keys := slices.Sorted(maps.Keys(user))
	for _, key := range keys {
		if user[key] != nil && !at.knows(key) {
			s.Keys = append(s.Keys, key)
		}
	}
	if len(s.Keys) > 0 && len(s.Tables) > 0 {
		s.Known = at.known()
		d.found = append(d.found, s)
	}
	for _, key := range keys {
		d.below(valuesTable{longer(at.path, key), tablesAt(at.tables, key), tablesAt(at.defaults, key)}, user[key], at, key)
	}
}

func (p valuesTable) knows(key string) bool {
	for _, t := range p.defaults {
		if _, ok := t[key]; ok {
			return true
		}
	}
	return false
}

// known are the keys of all defaults, in order.
func (p valuesTable) known() []string {
	keys := map[string]bool{}
	for _, t := range p.defaults {
		for key := range t {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// below goes on into a table, or into the tables of a list, which share what is
// known of them.
func (d *keyChecker) below(at valuesTable, v any, above valuesTable, key string) {
	switch v := v.(type) {
	case map[string]any:
		d.table(at, v, nil)
	case []any:
		// A key that is read of one item counts as read of all.
		items, known := itemsAt(above.tables, key), itemsAt(above.defaults, key)
		for i, item := range v {
			t, ok := item.(map[string]any)
			if !ok {
				continue
			}
			d.table(valuesTable{longer(at.path, fmt.Sprintf("[%d]", i)), items, known}, t, nil)
		}
	}
}

func longer(path []string, key string) []string { return append(slices.Clip(path), key) }

func tablesAt(tables []map[string]any, key string) []map[string]any {
	var out []map[string]any
	for _, t := range tables {
		if below, ok := t[key].(map[string]any); ok {
			out = append(out, below)
		}
	}
	return out
}

// itemsAt are the tables in the lists under key.
func itemsAt(tables []map[string]any, key string) []map[string]any {
	var out []map[string]any
	for _, t := range tables {
		list, _ := t[key].([]any)
		for _, item := range list {
			if t, ok := item.(map[string]any); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

// globalTables are the globals of every chart of the tree.
func globalTables(c *chart.Chart, vals map[string]any) []map[string]any {
	out := tablesAt([]map[string]any{vals}, globalKey)
	for _, sub := range c.Dependencies() {
		if below, ok := vals[sub.Name()].(map[string]any); ok {
			out = append(out, globalTables(sub, below)...)
		}
	}
	return out
}

// globalDefaults are the globals that any chart of the tree has defaults for.
func (d *keyChecker) globalDefaults(c *chart.Chart) []map[string]any {
	if d.defaults != nil {
		return d.defaults
	}
	root := c
	for root.Parent() != nil {
		root = root.Parent()
	}
	var add func(c *chart.Chart)
	add = func(c *chart.Chart) {
		d.defaults = append(d.defaults, tablesAt([]map[string]any{c.Values}, globalKey)...)
		for _, sub := range c.Dependencies() {
			add(sub)
		}
	}
	add(root)
	return d.defaults
}
