// Package keyuse records which keys of the values templates read, so a value that
// nothing reads can be reported as a likely misspelling. It renders nothing: the
// executor of templating tells it what it looks at.
package keyuse

import (
	"maps"
	"reflect"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// Watched is a table of the values, and the keys in it that are in doubt. One table can
// be several Go maps: each chart has its own map of the globals.
type Watched struct {
	Tables []map[string]any
	Keys   []string
}

// Seen is what a render read of a watched table.
type Seen struct {
	// Unread are the doubted keys that nothing read.
	Unread []string
	// Read are the keys that were looked up by name, whether they exist or not.
	Read []string
}

// Reads records which keys of the watched tables templates look at. Tables are
// recognised by identity: however a template gets to a table (a variable, with, range,
// the argument of an include), it is the same map. Where a table is printed or passed
// to a function, everything in it counts as read; reads of its copies count as reads of
// the table.
type Reads struct {
	tables map[uintptr][]*record
	// records are those of the watched tables, in the same order.
	records []*record
	// room is how many more values may be visited; beyond that, everything counts as
	// read.
	room int
}

type record struct {
	keys map[string]bool
	// all: every key of the table was read; whole: so was everything below them.
	all, whole bool
}

// New returns a recorder of reads of the tables: nil when there is nothing to watch, which then costs
// nothing.
func New(watch []Watched) *Reads {
	if len(watch) == 0 {
		return nil
	}
	r := &Reads{tables: map[uintptr][]*record{}, room: 10 * budget.MaxValueNodes}
	for _, w := range watch {
		one := &record{keys: map[string]bool{}}
		r.records = append(r.records, one)
		for _, t := range w.Tables {
			r.add(t, one)
		}
	}
	return r
}

// Seen returns what the render read of each watched table; watch must be what New got.
func (r *Reads) Seen(watch []Watched) []Seen {
	if r == nil {
		return nil
	}
	out := make([]Seen, len(watch))
	for i, w := range watch {
		one := r.records[i]
		out[i].Read = slices.Sorted(maps.Keys(one.keys))
		if one.all || r.room < 0 {
			continue
		}
		for _, key := range w.Keys {
			if !one.keys[key] {
				out[i].Unread = append(out[i].Unread, key)
			}
		}
	}
	return out
}

// table returns v as a map if it is one: in templates, values have a type of their own.
func table(v any) (map[string]any, bool) {
	if t, ok := v.(map[string]any); ok {
		return t, true
	}
	if rv := reflect.ValueOf(v); rv.IsValid() && rv.CanConvert(tableType) {
		return rv.Convert(tableType).Interface().(map[string]any), true
	}
	return nil, false
}

var tableType = reflect.TypeFor[map[string]any]()

func identity(t map[string]any) uintptr { return reflect.ValueOf(t).Pointer() }

// Key records that a table was asked for a key.
func (r *Reads) Key(t map[string]any, name string) {
	for _, one := range r.tables[identity(t)] {
		one.keys[name] = true
	}
}

// add records that t stands for the tables of these records, too. Where it stands for very many, as when
// all tables of a map are merged into one, every key of the others counts as read: each read of t would
// take a step for each of them.
func (r *Reads) add(t map[string]any, records ...*record) {
	at := identity(t)
	for _, one := range records {
		switch have := r.tables[at]; {
		case slices.Contains(have, one):
		case len(have) == maxRecords:
			one.all = true
		default:
			r.tables[at] = append(have, one)
		}
	}
}

// maxRecords limits how many watched tables one table stands for.
const maxRecords = 100

// Level records that every key of a table was read, but nothing below them.
func (r *Reads) Level(v any) {
	if t, ok := table(v); ok {
		for _, one := range r.tables[identity(t)] {
			one.all = true
		}
	}
}

// Whole records that a value was read all the way down.
func (r *Reads) Whole(v any) { r.whole(v, 0) }

func (r *Reads) whole(v any, depth int) {
	switch v := v.(type) {
	case nil, string, bool, int, int64, float64:
		return
	case map[string]any:
		r.wholeTable(v, depth)
		return
	case []any:
		if r.spend(len(v), depth) {
			for _, e := range v {
				r.whole(e, depth+1)
			}
		}
		return
	}
	if t, ok := table(v); ok {
		r.wholeTable(t, depth)
		return
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice || rv.Type().Elem().Kind() == reflect.String || !r.spend(rv.Len(), depth) {
		return
	}
	for i := range rv.Len() {
		r.whole(rv.Index(i).Interface(), depth+1)
	}
}

func (r *Reads) wholeTable(t map[string]any, depth int) {
	known := len(r.tables[identity(t)]) > 0
	for _, one := range r.tables[identity(t)] {
		known = known && one.whole
		one.all, one.whole = true, true
	}
	if known || !r.spend(len(t), depth) {
		return
	}
	for _, e := range t {
		r.whole(e, depth+1)
	}
}

// spend reports whether n more values may be visited. It ends what would be endless,
// since tables can contain themselves: everything then counts as read.
func (r *Reads) spend(n, depth int) bool {
	r.room -= n + 1
	if depth > budget.MaxValueDepth {
		r.room = -1
	}
	return r.room >= 0
}
