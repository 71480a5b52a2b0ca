package values

import (
	"maps"
	"slices"
)

// tables merges src into dest, key by key and recursively, and changes both: dest gets src's
// content, and src gets dest's nulls. With keepNulls, a null in dest hides src's value; without it,
// a null removes the key if src has a value for it, and stays if src has none.
func (co *coalescer) tables(dest, src map[string]any, where string, keepNulls bool) {
	for key, val := range dest {
		if val != nil {
			continue
		}
		below, ok := src[key]
		if ok && below != nil && !keepNulls {
			delete(dest, key)
			// It must not be added again below.
			delete(src, key)
			continue
		}
		src[key] = nil
	}
	// If imports overlap, src can be part of dest and grow during the loop. Helm's result is then
	// random; iterating over the initial keys, sorted, makes it deterministic.
	for _, key := range slices.Sorted(maps.Keys(src)) {
		have, ok := dest[key]
		if !ok {
			dest[key] = src[key]
			continue
		}
		co.pair(have, src[key], join(where, key), keepNulls)
	}
}

// pair merges two values of one key if both are tables.
func (co *coalescer) pair(have, val any, where string, keepNulls bool) {
	above, aboveIsMap := have.(map[string]any)
	below, belowIsMap := val.(map[string]any)
	switch {
	case aboveIsMap && belowIsMap:
		co.tables(above, below, where, keepNulls)
	case belowIsMap && have != nil:
		co.warn(where, "the default is a table, the value %s; the value replaces it", kind(have))
	case aboveIsMap && val != nil:
		co.warn(where, "the default is %s, the value a table; the default is ignored", kind(val))
	}
}

// coalesceTables returns dest merged with src, without changing either; nil is an empty table. A
// null in dest removes src's value.
func coalesceTables(dest, src map[string]any) map[string]any {
	if src == nil {
		return dest
	}
	if dest == nil {
		return src
	}
	out := Clone(dest)
	(&coalescer{}).tables(out, Clone(src), "", false)
	return out
}

// dropNulls removes null entries from a table and from the tables in it.
func dropNulls(t map[string]any) {
	for k, v := range t {
		if v == nil {
			delete(t, k)
		} else if inner, ok := v.(map[string]any); ok {
			dropNulls(inner)
		}
	}
}
