package templating

import (
	"errors"
	"slices"
)

// LookupFunc serves the lookup function of templates: it returns one object, or a
// list when name is empty. A missing object is an empty map, not an error. If the API
// version is served and does not have the kind, the error is an *UnknownKindError.
type LookupFunc func(apiVersion, kind, namespace, name string) (map[string]any, error)

// UnknownKindError says that an API version that is served does not have a kind. To
// templates it is as if the object were missing (Helm 4.3.1, pkg/engine/lookup_func.go,
// getAPIResourceForGVK).
type UnknownKindError struct{ APIVersion, Kind string }

func (e *UnknownKindError) Error() string { return e.APIVersion + " has no kind " + e.Kind }

// UnknownKind is a lookup that asks for a kind that does not exist.
type UnknownKind struct {
	Place
	APIVersion, Kind string
}

// maxUnknownKinds limits how many lookups of unknown kinds one render reports.
const maxUnknownKinds = 100

// lookup asks the cluster. Without one, and in lint mode, it finds nothing.
func (s *state) lookup(args []any) any {
	if s.options.Lookup == nil || s.options.Lint {
		return map[string]any{}
	}
	text := func(i int) string { t, _ := args[i].(string); return t }
	object, err := s.options.Lookup(text(0), text(1), text(2), text(3))
	var unknown *UnknownKindError
	if errors.As(err, &unknown) {
		s.unknownKind(unknown)
		return map[string]any{}
	}
	s.check(err)
	if object == nil {
		object = map[string]any{}
	}
	return object
}

func (s *state) unknownKind(e *UnknownKindError) {
	at := s.located(s.tmpl, s.node)
	found := UnknownKind{Place{File: at.File, Line: at.Line}, e.APIVersion, e.Kind}
	if len(s.unknown) < maxUnknownKinds && !slices.Contains(s.unknown, found) {
		s.unknown = append(s.unknown, found)
	}
}
