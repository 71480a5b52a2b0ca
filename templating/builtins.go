package templating

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	gotemplate "text/template"
)

// builtinFunctions returns the functions of text/template. Calls of "and" and "or" are evaluated by
// logic.
func builtinFunctions() map[string]any {
	return map[string]any{
		"and":      func(...any) any { return nil },
		"or":       func(...any) any { return nil },
		"call":     func(v any, _ ...any) (any, error) { return nil, fmt.Errorf("%s is not a function", typeOf(v)) },
		"html":     func(a ...any) string { return gotemplate.HTMLEscaper(a...) },
		"js":       func(a ...any) string { return gotemplate.JSEscaper(a...) },
		"urlquery": func(a ...any) string { return gotemplate.URLQueryEscaper(a...) },
		"index":    index,
		"len":      length,
		"not":      func(v any) bool { return !isTrue(v) },
		"print":    func(a ...any) string { return fmt.Sprint(a...) },
		"printf":   printf,
		"println":  func(a ...any) string { return fmt.Sprintln(a...) },
		"eq":       equalsAny,
		"ne":       func(a, b any) (bool, error) { eq, err := equals(a, b); return !eq, err },
		"lt":       less,
		"le":       lessOrEqual,
		"gt":       func(a, b any) (bool, error) { le, err := lessOrEqual(a, b); return !le && err == nil, err },
		"ge":       func(a, b any) (bool, error) { lt, err := less(a, b); return !lt && err == nil, err },
	}
}

// errUnset is the error of indexing nil.
var errUnset = errors.New("there is nothing to index (nil)")

// index returns item[key][key]… for maps, lists and text. A missing key of a map gives the zero value.
func index(item any, keys ...any) (any, error) {
	if item == nil {
		return nil, errUnset
	}
	for _, key := range keys {
		if m, ok := item.(map[string]any); ok {
			if k, ok := key.(string); ok {
				item = m[k]
				continue
			}
		}
		v, isNil := indirect(toReflect(wrapNil(item)))
		if isNil {
			return nil, fmt.Errorf("there is nothing to read %v from (nil)", key)
		}
		next, err := indexReflect(v, key)
		if err != nil {
			return nil, err
		}
		item = unwrapNil(fromReflect(next))
	}
	return item, nil
}

func indexReflect(v reflect.Value, key any) (reflect.Value, error) {
	switch v.Kind() {
	case reflect.Array, reflect.Slice, reflect.String:
		i, err := position(key, v.Len())
		if err != nil {
			return v, err
		}
		return v.Index(i), nil
	case reflect.Map:
		k, err := mapKey(key, v.Type().Key())
		if err != nil {
			return v, err
		}
		if found := v.MapIndex(k); found.IsValid() {
			return found, nil
		}
		return reflect.Zero(v.Type().Elem()), nil
	}
	return v, fmt.Errorf("a value of type %s can't be indexed", v.Type())
}

func position(key any, length int) (int, error) {
	k := reflect.ValueOf(key)
	var i int64
	switch {
	case k.IsValid() && k.CanInt():
		i = k.Int()
	case k.IsValid() && k.CanUint():
		i = int64(k.Uint()) // a wrapped number is out of range below
	default:
		return 0, fmt.Errorf("a list can't be indexed with %v", key)
	}
	if i < 0 || i >= int64(length) {
		return 0, fmt.Errorf("index %d is out of range: there are %d items", i, length)
	}
	return int(i), nil
}

func mapKey(key any, want reflect.Type) (reflect.Value, error) {
	k := reflect.ValueOf(key)
	isNumber := func(v reflect.Value) bool { return v.CanInt() || v.CanUint() }
	switch {
	case !k.IsValid() && want.Kind() == reflect.Interface:
		return reflect.Zero(want), nil
	case k.IsValid() && k.Type().AssignableTo(want):
		return k, nil
	case k.IsValid() && isNumber(k) && isNumber(reflect.Zero(want)):
		return k.Convert(want), nil
	}
	return k, fmt.Errorf("a map with keys of type %s has no key %v", want, key)
}

func length(v any) (int, error) {
	switch v := v.(type) {
	case string:
		return len(v), nil
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	}
	rv, _ := indirect(reflect.ValueOf(v))
	switch rv.Kind() {
	case reflect.Array, reflect.Chan, reflect.Map, reflect.Slice, reflect.String:
		return rv.Len(), nil
	}
	return 0, fmt.Errorf("%s has no length", typeOf(v))
}

// typeNames replaces the names of our types by those that templates see under Helm 4.3.1.
var typeNames = strings.NewReplacer(
	"templating.Values", "common.Values",
	"templating.Files", "engine.files",
	"templating.Capabilities", "common.Capabilities",
	"templating.KubeVersion", "common.KubeVersion",
	"templating.VersionSet", "common.VersionSet",
	"templating.HelmVersion", "version.BuildInfo",
)

// typeOf returns the name of a type.
func typeOf(v any) string { return typeNames.Replace(fmt.Sprintf("%T", v)) }

// namesTypes matches formats with verbs that print types: %T, and %v with a "#".
var namesTypes = regexp.MustCompile(`%[-+# 0-9.*\[\]]*T|%[-+ 0-9.*\[\]]*#[-+# 0-9.*\[\]]*v`)

// printf is fmt.Sprintf, with the names of types as typeOf has them. Arguments that don't fit the format are
// printed with theirs, after "%!".
func printf(format string, a ...any) string {
	text := fmt.Sprintf(format, a...)
	if strings.Contains(text, "templating.") && (strings.Contains(text, "%!") || namesTypes.MatchString(format)) {
		text = typeNames.Replace(text)
	}
	return text
}
