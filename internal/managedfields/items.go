package managedfields

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// itemNamed returns a list item in a set of fields and the live item, by the name that fielddiff gives it: the
// values of its key ("80", "80/TCP"), or what identifies the live item, such as the name of a port.
func itemNamed(name string, set *fieldpath.Set, live []any) (e fieldpath.PathElement, item any, found bool) {
	for _, of := range elements(set) {
		if of.Key == nil {
			continue
		}
		key := keyOf(of)
		there := itemWith(key, live)
		if names(key, name) {
			return of, there, true
		}
		_, identity := fielddiff.Identity(there)
		if text, ok := jsontree.ScalarText(identity); ok && text == name && !found {
			e, item, found = of, there, true
		}
	}
	return e, item, found
}

// elements returns the elements of paths with which a set's fields begin. It leaves none of the set's iterators early:
// those go on regardless (structured-merge-diff v6.4.2, fieldpath/set.go, All).
func elements(set *fieldpath.Set) []fieldpath.PathElement {
	var out []fieldpath.PathElement
	add := func(e fieldpath.PathElement) { out = append(out, e) }
	set.Members.Iterate(add)
	set.Children.Iterate(add)
	return out
}

// keyOf returns the key of a list item, such as {"port": 80, "protocol": "TCP"}.
func keyOf(e fieldpath.PathElement) map[string]any {
	key := map[string]any{}
	for _, field := range *e.Key {
		key[field.Name] = field.Value.Unstructured()
	}
	return key
}

// names reports whether an item with these values of its key may be shown under the name.
func names(key map[string]any, name string) bool {
	var all []string
	for _, field := range slices.Sorted(maps.Keys(key)) { // a port comes before its protocol
		text, _ := jsontree.ScalarText(key[field])
		all = append(all, text)
	}
	return slices.Contains(all, name) || strings.Join(all, "/") == name
}

// itemWith returns the live item with these values of its key.
func itemWith(key map[string]any, live []any) any {
	for _, item := range live {
		same := true
		for field, value := range key {
			has := jsontree.KeyOf(item, field)
			if has == nil && field == "protocol" { // it is part of a key even where it is a default
				has = "TCP"
			}
			same = same && has == jsontree.Number(value)
		}
		if same {
			return item
		}
	}
	return nil
}
