package values

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// UnknownKeys is a table of the user's values with keys for which no chart has a default. That need
// not be a mistake: many charts read keys without a default. What templates read from Tables decides.
type UnknownKeys struct {
	// Path is the path of the table from the root of the values; an index of a list is written
	// "[0]".
	Path []string
	// Tables holds the corresponding tables of the coalesced values, as templates get them. The
	// globals of each chart are a separate table.
	Tables []map[string]any
	// Keys holds the unknown keys, sorted.
	Keys []string
	// Known holds the keys that the charts know in this table: defaults, names of subcharts, and
	// keys of conditions and tags.
	Known []string
	// Aliases holds the aliases of dependencies in this chart, keyed by the name of the chart.
	Aliases map[string]string
}

// FindUnknownKeys returns the tables of the user's values with keys that are not among the charts'
// defaults, outer tables first. loaded is the whole tree, processed the result of
// ProcessDependencies, vals the Values in that of RenderValues, since reads are found by the identity
// of tables. For disabled subcharts only the top-level keys are checked. Nulls are ignored.
func FindUnknownKeys(loaded, processed *chart.Chart, user, vals map[string]any) []UnknownKeys {
	d := keyChecker{globals: globalTables(processed, vals)}
	d.chart(chartPair{loaded, processed}, nil, user, vals, nil)
	return d.found
}

// Meant returns the key that an unknown one was probably meant to be, among those that the charts
// know or that templates have read in the table; "" if there is none.
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
	// globals holds the tables under "global" of all charts, defaults the known keys of these.
	globals  []map[string]any
	defaults []map[string]any
}

// chartPair is a chart as it was loaded, and with its dependencies processed.
type chartPair struct{ loaded, processed *chart.Chart }

// valuesTable is one table of the values, as templates get it and as in the defaults.
type valuesTable struct {
	path     []string
	tables   []map[string]any
	defaults []map[string]any
}

// chart checks the values of one chart. defaults holds what its parents define for it.
func (d *keyChecker) chart(c chartPair, path []string, user, vals map[string]any, defaults []map[string]any) {
	defaults = append(slices.Clip(defaults), c.processed.Values, switches(c.loaded))
	at := valuesTable{path, []map[string]any{vals}, defaults}
	names, aliases := dependencyNames(c.loaded)
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
		d.table(valuesTable{longer(path, globalKey), d.globals, d.globalDefaults(c.processed)}, global, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		given, _ := user[name].(map[string]any)
		below, _ := vals[name].(map[string]any)
		sub := chartPair{subchart(c.loaded, name), named(c.processed, name)}
		switch {
		case given == nil || below == nil || name == globalKey || sub.loaded == nil:
		case sub.processed == nil:
			d.off(c.loaded, longer(path, name), given, below, defaults)
		default:
			d.chart(sub, longer(path, name), given, below, tablesAt(defaults, name))
		}
	}
}

// table checks one table of the user's values, then the tables in it.
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

// known returns the keys of all defaults, sorted.
func (p valuesTable) known() []string {
	keys := map[string]bool{}
	for _, t := range p.defaults {
		for key := range t {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// below checks a nested table, or the tables in a list, which share their known keys.
func (d *keyChecker) below(at valuesTable, v any, above valuesTable, key string) {
	switch v := v.(type) {
	case map[string]any:
		d.table(at, v, nil)
	case []any:
		// A key that is read from one item counts as read from all items.
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

// itemsAt returns the tables in the lists under key.
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

// globalTables returns the globals of every chart of the tree.
func globalTables(c *chart.Chart, vals map[string]any) []map[string]any {
	out := tablesAt([]map[string]any{vals}, globalKey)
	for _, sub := range c.Dependencies() {
		if below, ok := vals[sub.Name()].(map[string]any); ok {
			out = append(out, globalTables(sub, below)...)
		}
	}
	return out
}

// globalDefaults returns the globals for which any chart of the tree has defaults.
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
