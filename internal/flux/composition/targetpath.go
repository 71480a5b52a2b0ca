package composition

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/values"
)

// assignment is a reference with a targetPath.
type assignment struct {
	entry   int
	path    string
	value   string
	literal bool
}

// apply sets the value in the syntax of --set: {a,b} is a list, a comma ends the
// value, and quotes around it make it a string. A literal value is a string as it is.
func (a assignment) apply(table map[string]any) error {
	value, quoted := a.value, a.literal
	switch {
	case a.literal:
		value = escaper.Replace(value)
	case enclosed(value, "'"), enclosed(value, `"`):
		value, quoted = strings.Trim(value, `'"`), true
	}
	return values.Set(table, a.path+"="+value, quoted)
}

func enclosed(s, quote string) bool {
	return strings.HasPrefix(s, quote) && strings.HasSuffix(s, quote)
}

// escaper escapes what --set would read as syntax.
var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// lost returns a note if the result does not have what was set, with what overrides it.
func (a assignment) lost(result, inline map[string]any) []string {
	alone := map[string]any{}
	if a.apply(alone) != nil || holds(result, alone) {
		return nil
	}
	by := "a later entry of valuesFrom"
	if touches(inline, alone) {
		by = "spec.values"
	}
	return []string{fmt.Sprintf("spec.valuesFrom[%d]: targetPath %s has no effect, %s sets it", a.entry, a.path, by)}
}

// holds reports whether all that was set is in the result. List items that an
// index has left empty are ignored.
func holds(result, set any) bool {
	switch set := set.(type) {
	case map[string]any:
		table, ok := result.(map[string]any)
		for k, v := range set {
			if in, there := table[k]; !there || !holds(in, v) {
				return false
			}
		}
		return ok
	case []any:
		list, ok := result.([]any)
		for i, v := range set {
			if v != nil && (i >= len(list) || !holds(list[i], v)) {
				return false
			}
		}
		return ok
	}
	return reflect.DeepEqual(result, set)
}

// touches reports whether the table has something at the path that was set.
func touches(table, set map[string]any) bool {
	for k, v := range set {
		there, ok := table[k]
		if !ok {
			continue
		}
		below, isTable := v.(map[string]any)
		inner, isInner := there.(map[string]any)
		if !isTable || !isInner || touches(inner, below) {
			return true
		}
	}
	return false
}
