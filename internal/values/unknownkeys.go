package values

import (
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// UnknownKeys is a table of the user's values with keys for which no chart has a default. That need
// not be a mistake: many charts read keys without a default. What templates read from Tables decides.
//
// The tables in a list count as one, since templates treat them alike, and so do the globals of all
// charts: otherwise a list of n tables would have n tables to watch for each of its items.
type UnknownKeys struct {
	// Tables holds the corresponding tables of the coalesced values, as templates get them. The
	// globals of each chart are a separate table.
	Tables []map[string]any
	// Keys holds the unknown keys, sorted by name.
	Keys []UnknownKey
	// Known holds the keys that the charts know in this table: defaults, names of subcharts, and
	// keys of conditions and tags.
	Known []string
	// Aliases holds the aliases of dependencies in this chart, keyed by the name of the chart.
	Aliases map[string]string
}

// UnknownKey is a key that no chart knows.
type UnknownKey struct {
	Name string
	// More is how many further items of a list, or charts' globals, have it.
	More int
	// Branch is the key in the tree of tables.
	Branch *Branch
	first  *place
}

// Path returns the path of the key from the root of the values, in the first item of a list that has
// it; an index of a list is written "[0]".
func (k UnknownKey) Path() []string { return append(k.first.path(), k.Name) }

// Branch is a key in the tree of the user's tables, in which the tables in a list are one. Above is
// the key under which its table is, or nil.
type Branch struct{ Above *Branch }

// FindUnknownKeys returns the tables of the user's values with keys that are not among the charts'
// defaults, outer tables first. loaded is the whole tree, processed the result of
// ProcessDependencies, vals the Values in that of RenderValues, since reads are found by the identity
// of tables. For disabled subcharts only the top-level keys are checked. Nulls are ignored.
func FindUnknownKeys(loaded, processed *chart.Chart, user, vals map[string]any) []UnknownKeys {
	var d keyChecker
	d.chart(chartPair{loaded, processed}, nil, user, vals, nil)
	if len(d.globals) > 0 {
		d.table(valuesTable{user: d.globals, tables: globalTables(processed, vals), defaults: globalDefaults(processed)}, nil)
	}
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
	// globals holds what the user gives under "global" of any chart.
	globals []given
}

// chartPair is a chart as it was loaded, and with its dependencies processed.
type chartPair struct{ loaded, processed *chart.Chart }

// chart checks the values of one chart. defaults holds what its parents define for it.
func (d *keyChecker) chart(c chartPair, at *place, user, vals map[string]any, defaults []map[string]any) {
	switched := switches(c.loaded)
	defaults = append(slices.Clip(defaults), c.processed.Values, switched)
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
	d.table(valuesTable{user: []given{{at, own}}, tables: []map[string]any{vals}, defaults: append(slices.Clip(defaults), known)}, aliases)
	if global, ok := user[globalKey].(map[string]any); ok {
		d.globals = append(d.globals, given{&place{at, globalKey}, global})
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		table, _ := user[name].(map[string]any)
		below, _ := vals[name].(map[string]any)
		if table == nil || below == nil || name == globalKey {
			continue
		}
		switch sub := (chartPair{subchart(c.loaded, name), named(c.processed, name)}); {
		case sub.loaded == nil:
		case sub.processed == nil:
			d.off(sub.loaded, given{&place{at, name}, table}, below, tablesAt(defaults, name), tablesAt([]map[string]any{switched}, name))
		default:
			d.chart(sub, &place{at, name}, table, below, tablesAt(defaults, name))
		}
	}
}

// off finds unknown keys in the values of a disabled subchart, at the top level only: one may be a
// misspelt key that would have enabled the subchart. switched holds the keys that do.
func (d *keyChecker) off(sub *chart.Chart, user given, vals map[string]any, defaults, switched []map[string]any) {
	at := valuesTable{user: []given{user}, tables: []map[string]any{vals}, defaults: append(defaults, sub.Values)}
	d.add(UnknownKeys{Tables: at.tables, Keys: unknown(at.keys()), Known: known(switched)})
}

// table checks one table of the user's values, then the tables in it.
func (d *keyChecker) table(at valuesTable, aliases map[string]string) {
	keys := at.keys()
	if found := unknown(keys); len(found) > 0 {
		d.add(UnknownKeys{Tables: at.tables, Keys: found, Known: known(at.defaults), Aliases: aliases})
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		for _, below := range []valuesTable{keys[name].table, keys[name].items} {
			if below.branch = keys[name].branch; len(below.user) > 0 {
				d.table(below, nil)
			}
		}
	}
}

func (d *keyChecker) add(s UnknownKeys) {
	if len(s.Keys) > 0 && len(s.Tables) > 0 {
		d.found = append(d.found, s)
	}
}

func tablesAt(tables []map[string]any, key string) []map[string]any {
	var out []map[string]any
	for _, t := range tables {
		if below, ok := t[key].(map[string]any); ok {
			out = append(out, below)
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
func globalDefaults(c *chart.Chart) []map[string]any {
	out := tablesAt([]map[string]any{c.Values}, globalKey)
	for _, sub := range c.Dependencies() {
		out = append(out, globalDefaults(sub)...)
	}
	return out
}
