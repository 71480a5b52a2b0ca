package manifest

import (
	"path"
	"strings"
)

// Selects reports whether one of the filters matches an object. A filter is "KIND" or
// "KIND/NAME"; the case of KIND does not matter, and NAME may have wildcards. Without
// filters everything is selected.
func Selects(filters []string, id ID) bool {
	if len(filters) == 0 {
		return true
	}
	for _, filter := range filters {
		kind, name, named := strings.Cut(filter, "/")
		if !named {
			name = "*"
		}
		matched, err := path.Match(name, id.Name)
		if isKind(kind, id) && err == nil && matched {
			return true
		}
	}
	return false
}

// isKind accepts "deployment", "Deployment", "deployments" and "deployments.apps".
func isKind(word string, id ID) bool {
	word, group, grouped := strings.Cut(strings.ToLower(word), ".")
	if grouped && group != strings.ToLower(id.Group) {
		return false
	}
	kind := strings.ToLower(id.Kind)
	switch word {
	case "*", kind, kind + "s", kind + "es", strings.TrimSuffix(kind, "y") + "ies":
		return true
	}
	return false
}
