package repository

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// decoded decodes an object with markers. A marker may stand where a field has another type than text, such as
// a duration: such fields are left out, and their paths returned.
func decoded[T any](object map[string]any, decode func(map[string]any) (T, error)) (out T, without []string, err error) {
	if out, err = decode(object); err == nil || !holds(object) {
		return out, nil, err
	}
	reduced, _ := jsontree.Copy(object).(map[string]any)
	marks := eachMark(nil, reduced, "")
	for _, m := range marks {
		m.put(nil)
	}
	var fitting []mark
	for _, m := range marks {
		m.put(m.text)
		if _, err := decode(reduced); err == nil {
			fitting = append(fitting, m)
		} else {
			without = append(without, m.path)
		}
		m.put(nil)
	}
	for _, m := range fitting {
		m.put(m.text)
	}
	if rest, again := decode(reduced); again == nil {
		return rest, without, nil
	}
	return out, nil, err
}

// mark is a text with a marker in an object. put replaces it, or takes it out with nil.
type mark struct {
	path, text string
	put        func(any)
}

// eachMark adds the texts with markers below a value.
func eachMark(to []mark, v any, path string) []mark {
	add := func(below any, path string, put func(any)) {
		if text, isText := below.(string); isText && (composition.Marked(text) || strings.Contains(text, concealed)) {
			to = append(to, mark{path, text, put})
			return
		}
		to = eachMark(to, below, path)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range jsontree.Keys(v, nil) {
			add(v[key], jsontree.Join(path, key), func(value any) {
				if v[key] = value; value == nil { // not everything may be null
					delete(v, key)
				}
			})
		}
	case []any:
		for i := range v {
			add(v[i], fmt.Sprintf("%s[%d]", path, i), func(value any) { v[i] = value })
		}
	}
	return to
}

// assumed says what becomes of fields that are left out.
func assumed(fields []string) string {
	slices.Sort(fields)
	if len(fields) == 1 {
		return fields[0] + " is not known: its default is assumed"
	}
	return strings.Join(fields, ", ") + " are not known: their defaults are assumed"
}
