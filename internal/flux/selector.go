package flux

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Selection is a compiled Selector; nil selects all objects.
type Selection struct {
	// patterns are for group, version, kind, namespace and name.
	patterns            [5]*regexp.Regexp
	labels, annotations labels.Selector
}

// Compile compiles a selector, which may be nil. Errors begin with the name of the field that is not
// a regular expression or a label selector (fluxcd/pkg ssa 0.76.1, jsondiff/selector.go,
// NewSelectorRegex).
func (s *Selector) Compile() (*Selection, error) {
	if s == nil {
		return nil, nil
	}
	out := &Selection{}
	for i, field := range []struct{ name, pattern string }{
		{"group", s.Group}, {"version", s.Version}, {"kind", s.Kind}, {"namespace", s.Namespace}, {"name", s.Name},
	} {
		var err error
		if field.pattern == "" {
			continue
		}
		if out.patterns[i], err = regexp.Compile("^(?:" + field.pattern + ")$"); err != nil {
			return nil, fmt.Errorf("%s: %w", field.name, err)
		}
	}
	var err error
	if out.labels, err = labels.Parse(s.LabelSelector); err != nil {
		return nil, fmt.Errorf("labelSelector: %w", err)
	}
	if out.annotations, err = labels.Parse(s.AnnotationSelector); err != nil {
		return nil, fmt.Errorf("annotationSelector: %w", err)
	}
	return out, nil
}

// Selects reports whether an object fits all that the selector says.
func (s *Selection) Selects(o *unstructured.Unstructured) bool {
	if s == nil {
		return true
	}
	gvk := o.GroupVersionKind()
	for i, value := range []string{gvk.Group, gvk.Version, gvk.Kind, o.GetNamespace(), o.GetName()} {
		if s.patterns[i] != nil && !s.patterns[i].MatchString(value) {
			return false
		}
	}
	return s.labels.Matches(labels.Set(o.GetLabels())) && s.annotations.Matches(labels.Set(o.GetAnnotations()))
}
