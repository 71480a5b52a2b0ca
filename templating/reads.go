package templating

import (
	"reflect"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// Watched is a table of the values, and keys of it that somebody doubts. One
// table can be several Go maps: each chart has its own map of the globals.
type Watched struct {
	Tables []map[string]any
	Keys   []string
}

// Seen is what became of a watched table in a render.
type Seen struct {
	// Unread are the doubted keys that nothing has read.
	Unread []string
	// Read are the keys that were asked for by name, there or not.
	Read []string
}

// reads records which keys of the watched tables templates look at. Tables are
// told by identity: whatever way a template comes to a table (a variable, with,
// range, the argument of an include), it is the same map. Where a table is
// printed or handed to a function, all that is in it counts as read; reads of
// its copies count as reads of the table.
type reads struct {
	tables map[uintptr][]*record
	// records are the watched tables' in their order.
	records []*record
	// room is how many values may still be gone over; beyond that everything
	// counts as read.
	room int
}

type record struct {
	keys map[string]bool
	// all: every key of the table was read; whole: so was what is below them.
	all, whole bool
}

// newReads is nil when there is nothing to watch, which costs nothing then.
func newReads(watch []Watched) *reads {
	if len(watch) == 0 {
		return nil
	}
	r := &reads{tables: map[uintptr][]*record{}, room: 10 * budget.MaxValueNodes}
	for _, w := range watch {
		one := &record{keys: map[string]bool{}}
		r.records = append(r.records, one)
		for _, t := range w.Tables {
			r.add(t, one)
		}
	}
	return r
}

// seen is what the render has read of each watched table.
func (r *reads) seen(watch []Watched) []Seen {
	if r == nil {
		return nil
	}
	out := make([]Seen, len(watch))
	for i, w := range watch {
		one := r.records[i]
		out[i].Read = sortedKeys(one.keys)
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

func identity(t map[string]any) uintptr { return reflect.ValueOf(t).Pointer() }

func (r *reads) key(t map[string]any, name string) {
	for _, one := range r.tables[identity(t)] {
		one.keys[name] = true
	}
}

func (r *reads) add(t map[string]any, records ...*record) {
	at := identity(t)
	for _, one := range records {
		if !slices.Contains(r.tables[at], one) {
			r.tables[at] = append(r.tables[at], one)
		}
	}
}

// level notes that every key of a table was read, and nothing below them.
func (r *reads) level(v any) {
	if t, ok := asTable(v); ok {
		for _, one := range r.tables[identity(t)] {
			one.all = true
		}
	}
}

// whole notes that a value was read all the way down.
func (r *reads) whole(v any, depth int) {
	switch v := v.(type) {
	case nil, absent, string, bool, int, int64, float64:
		return
	case map[string]any:
		r.wholeTable(v, depth)
		return
	case Values:
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
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice || rv.Type().Elem().Kind() == reflect.String || !r.spend(rv.Len(), depth) {
		return
	}
	for i := range rv.Len() {
		r.whole(rv.Index(i).Interface(), depth+1)
	}
}

func (r *reads) wholeTable(t map[string]any, depth int) {
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

// spend ends what would be endless, for tables can contain themselves: then
// everything counts as read.
func (r *reads) spend(n, depth int) bool {
	r.room -= n + 1
	if depth > budget.MaxValueDepth {
		r.room = -1
	}
	return r.room >= 0
}
