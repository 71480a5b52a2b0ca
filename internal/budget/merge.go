package budget

import (
	"maps"
	"reflect"
	"slices"
)

// CountMerges replaces sprig's functions that merge tables by ones that count what they go through. Their
// results are mergo's (dario.cat/mergo v1.0.1, merge.go, deepMerge): of each source they set the keys that are
// missing or empty in the destination, or all of them to overwrite it; a table is merged into the one that is there, and only
// referred to where there is none. Keys are merged in order. A table can come to contain itself while it is
// merged, which would overflow mergo's stack.
func (b *Budget) CountMerges(functions map[string]any) {
	for must, lenient := range map[string]string{"mustMerge": "merge", "mustMergeOverwrite": "mergeOverwrite"} {
		theirs, ok := functions[must].(func(map[string]any, ...map[string]any) (any, error))
		if !ok {
			continue
		}
		m := merging{budget: b, overwrite: must == "mustMergeOverwrite", theirs: theirs}
		functions[must] = m.all
		functions[lenient] = m.allOrNothing
	}
}

// merging is one of the functions.
type merging struct {
	budget    *Budget
	overwrite bool
	// theirs is sprig's function, for values that are not tables.
	theirs func(map[string]any, ...map[string]any) (any, error)
}

// unlike is an error of mergo: two values can't be merged.
type unlike struct{ error }

func (m merging) all(into map[string]any, from ...map[string]any) (any, error) {
	for _, source := range from {
		if into == nil && source != nil {
			into = map[string]any{}
		}
		if err := m.tables(into, source, 0); err != nil {
			return nil, err
		}
	}
	return into, nil
}

// allOrNothing returns "" for what can't be merged.
func (m merging) allOrNothing(into map[string]any, from ...map[string]any) (any, error) {
	merged, err := m.all(into, from...)
	if _, ok := err.(unlike); ok { //nolint:errorlint // all wraps nothing
		return "", nil
	}
	return merged, err
}

func (m merging) tables(into, from map[string]any, depth int) error {
	if depth > MaxValueDepth {
		return errDepth
	}
	if err := m.budget.Step(mergeSteps * (1 + len(from))); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if err := m.entry(into, key, from[key], depth); err != nil {
			return err
		}
	}
	return nil
}

func (m merging) entry(into map[string]any, key string, value any, depth int) error {
	old, there := into[key]
	oldTable, wasTable := asTable(old)
	table, isTable := asTable(value)
	switch {
	case value == nil:
		if m.overwrite {
			into[key] = nil
		}
		return nil
	case wasTable && isTable && oldTable != nil:
		if err := m.tables(oldTable, table, depth+1); err != nil {
			return err
		}
	case isCompound(old) && isCompound(value):
		return m.other(into, key, value)
	}
	if !there || isEmpty(old) || m.overwrite && (!wasTable || !isTable) {
		into[key] = value
	}
	return nil
}

// other merges values of other types, such as .Files and .Capabilities, as mergo does.
func (m merging) other(into map[string]any, key string, value any) error {
	parts := 1
	if v := reflect.ValueOf(value); v.Kind() == reflect.Map {
		parts = v.Len()
	}
	if err := m.budget.Step(otherSteps * parts); err != nil {
		return err
	}
	one := map[string]any{key: into[key]}
	if _, err := m.theirs(one, map[string]any{key: value}); err != nil {
		return unlike{err}
	}
	into[key] = one[key]
	return nil
}

// asTable returns a value as a map if it is a table, of whatever named type.
func asTable(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case nil, string, bool, int, int64, float64, []any:
		return nil, false
	}
	table := reflect.TypeFor[map[string]any]()
	if rv := reflect.ValueOf(v); rv.CanConvert(table) {
		return rv.Convert(table).Interface().(map[string]any), true
	}
	return nil, false
}

// isCompound reports whether mergo looks into a value.
func isCompound(v any) bool {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Map, reflect.Struct, reflect.Pointer:
		return true
	}
	return false
}

// isEmpty reports whether mergo takes a value to be empty (mergo.go, isEmptyValue).
func isEmpty(v any) bool {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface {
		rv = rv.Elem()
	}
	switch rv.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		return rv.Len() == 0
	case reflect.Bool:
		return !rv.Bool()
	case reflect.Func:
		return rv.IsNil()
	}
	return rv.CanInt() && rv.Int() == 0 || rv.CanUint() && rv.Uint() == 0 || rv.CanFloat() && rv.Float() == 0
}
