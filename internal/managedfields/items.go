package managedfields

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// itemNamed returns the key of a list item in a set of fields, such as
// k:{"port":80,"protocol":"TCP"}, and the live item, by the name that fielddiff gives it: the
// values of its key ("80", "80/TCP"), or what identifies the live item, such as the name of
// a port. The key is empty if the set has no such item.
func itemNamed(name string, fields map[string]any, live []any) (key string, item any) {
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		content, isKey := strings.CutPrefix(k, "k:")
		var values map[string]any
		if !isKey || json.Unmarshal([]byte(content), &values) != nil {
			continue
		}
		found := itemWith(values, live)
		if names(values, name) {
			return k, found
		}
		_, identity := fielddiff.Identity(found)
		if text, ok := jsontree.ScalarText(identity); ok && text == name && key == "" {
			key, item = k, found
		}
	}
	return key, item
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
