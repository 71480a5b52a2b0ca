package values

import (
	"fmt"
	"maps"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Coalesce merges a user's values with the defaults of the whole chart tree. Each subchart's values
// are in a table with its name, with the globals of its parent. Lists and scalars replace, tables
// are merged. A null in the user's values removes the default; a null default never appears. It
// returns an error if a subchart's values are not a table, or too many globals are handed down.
//
// As in Helm 4.3.1 (pkg/chart/common/util/coalesce.go, coalesceGlobals), subcharts share the nested
// tables of "global": what one subchart's defaults add below the first level of a global table is
// visible to the parent and to later subcharts.
func Coalesce(c *chart.Chart, user map[string]any) (map[string]any, error) {
	return (&coalescer{}).chart(c, Clone(user), "")
}

// merge is like Coalesce, but keeps nulls, for values that will be coalesced again.
func merge(c *chart.Chart, user map[string]any) (map[string]any, error) {
	return (&coalescer{keepNulls: true}).chart(c, Clone(user), "")
}

// coalescer walks the chart tree. It changes the tables passed to it, which are always copies.
type coalescer struct {
	keepNulls bool
	// handed counts the globals that were passed to subcharts.
	handed   int
	warnings []chart.Warning
}

// chart completes dest, the values of c; parents is the path of c's parents.
func (co *coalescer) chart(c *chart.Chart, dest map[string]any, parents string) (map[string]any, error) {
	where := join(parents, c.Name())
	co.defaults(c, dest, where)
	for _, sub := range c.Dependencies() {
		v, ok := dest[sub.Name()]
		if !ok {
			v = map[string]any{}
		}
		table, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("values of chart %s: key %q is %s, but it is the name of a subchart and must be a table",
				where, sub.Name(), kind(v))
		}
		if err := co.handDown(dest, where); err != nil {
			return nil, err
		}
		co.globals(table, dest, where)
		table, err := co.chart(sub, table, where)
		if err != nil {
			return nil, err
		}
		dest[sub.Name()] = table
	}
	return dest, nil
}

// handDown counts the globals that are about to be passed to a subchart.
func (co *coalescer) handDown(src map[string]any, where string) error {
	up, _ := globalsOf(src)
	if co.handed += len(up); co.handed > maxHanded {
		return fmt.Errorf("values of chart %s: subcharts are passed more than %d global values in all", where, maxHanded)
	}
	return nil
}

// defaults adds c's own default values to dest.
func (co *coalescer) defaults(c *chart.Chart, dest map[string]any, where string) {
	for key, val := range Clone(c.Values) {
		have, ok := dest[key]
		table, isMap := have.(map[string]any)
		switch {
		case !ok:
			co.adopt(dest, key, val)
		case have == nil && !co.keepNulls:
			delete(dest, key)
		case isMap:
			keep := co.keepNulls || named(c, key) != nil
			co.defaultTable(table, val, join(where, key), keep)
		}
	}
}

// adopt uses a default that the user does not set.
func (co *coalescer) adopt(dest map[string]any, key string, val any) {
	if !co.keepNulls {
		if val == nil {
			return
		}
		if t, ok := val.(map[string]any); ok {
			dropNulls(t)
		}
	}
	dest[key] = val
}

// defaultTable adds a default to a table of the user's values. Tables that belong to a subchart
// keep their nulls until that subchart is coalesced.
func (co *coalescer) defaultTable(dest map[string]any, val any, where string, keepNulls bool) {
	src, ok := val.(map[string]any)
	if !ok {
		if val != nil {
			co.warn(where, "the default is %s, the value a table; the default is ignored", kind(val))
		}
		return
	}
	if !keepNulls {
		dropNulls(src)
	}
	co.tables(dest, src, where, keepNulls)
}

// globals passes the parent's globals (in src) to a subchart's values; the parent's override the
// subchart's.
func (co *coalescer) globals(dest, src map[string]any, where string) {
	down, ok := globalsOf(dest)
	if !ok {
		co.warn(join(where, globalKey), "the subchart's value is not a table; globals are not passed down")
		return
	}
	up, ok := globalsOf(src)
	if !ok {
		co.warn(join(where, globalKey), "it is not a table and is not passed down")
		return
	}
	for key, val := range up {
		co.global(down, key, val, join(join(where, globalKey), key))
	}
	dest[globalKey] = down
}

func (co *coalescer) global(down map[string]any, key string, val any, where string) {
	have, exists := down[key]
	table, isMap := val.(map[string]any)
	haveTable, haveIsMap := have.(map[string]any)
	switch {
	case !isMap && haveIsMap:
		co.warn(where, "the global is %s, the subchart's a table; the subchart's is kept", kind(val))
	case !isMap:
		down[key] = val
	case !exists:
		down[key] = maps.Clone(table)
	case !haveIsMap:
		co.warn(where, "the global is a table, the subchart's %s; the subchart's is kept", kind(have))
	default:
		// Nulls are kept: coalescing the subchart itself removes them.
		top := maps.Clone(table)
		co.tables(top, haveTable, where, true)
		down[key] = top
	}
}

// globalsOf returns the "global" table of values, empty if there is none.
func globalsOf(v map[string]any) (map[string]any, bool) {
	g, ok := v[globalKey]
	if !ok {
		return map[string]any{}, true
	}
	t, ok := g.(map[string]any)
	return t, ok
}

func (co *coalescer) warn(where, format string, args ...any) {
	co.warnings = append(co.warnings, chart.Warning{Where: where, What: fmt.Sprintf(format, args...)})
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}
