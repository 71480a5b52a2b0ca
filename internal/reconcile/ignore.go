package reconcile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/plan"
)

// ignoring are the fields of spec.driftDetection.ignore.
type ignoring []rule

// rule is one of them: JSON pointers, and which objects they are of.
type rule struct {
	paths               []string
	patterns            [5]*regexp.Regexp
	labels, annotations labels.Selector
}

func newIgnoring(hr *flux.HelmRelease) (ignoring, error) {
	var out ignoring
	for i, of := range hr.Spec.DriftDetection.Ignore {
		r := rule{paths: of.Paths, labels: labels.Everything(), annotations: labels.Everything()}
		if t := of.Target; t != nil {
			var err error
			for n, pattern := range []string{t.Group, t.Version, t.Kind, t.Name, t.Namespace} {
				if pattern == "" {
					continue
				}
				if r.patterns[n], err = regexp.Compile("^(?:" + pattern + ")$"); err != nil {
					return nil, fmt.Errorf("spec.driftDetection.ignore[%d].target: %w", i, err)
				}
			}
			if r.labels, err = labels.Parse(t.LabelSelector); err == nil {
				r.annotations, err = labels.Parse(t.AnnotationSelector)
			}
			if err != nil {
				return nil, fmt.Errorf("spec.driftDetection.ignore[%d].target: %w", i, err)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func (r rule) matches(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	for n, text := range []string{gvk.Group, gvk.Version, gvk.Kind, o.GetName(), o.GetNamespace()} {
		if r.patterns[n] != nil && !r.patterns[n].MatchString(text) {
			return false
		}
	}
	return r.labels.Matches(labels.Set(o.GetLabels())) && r.annotations.Matches(labels.Set(o.GetAnnotations()))
}

// keep is the step, and the object behind it, with ignored fields as they are live.
func (rules ignoring) keep(s plan.Step) (plan.Step, *unstructured.Unstructured) {
	after := s.After
	for _, r := range rules {
		if s.Body == nil || s.Before == nil || !r.matches(s.Body) {
			continue
		}
		s.Body = s.Body.DeepCopy()
		if after != nil {
			after = after.DeepCopy()
		}
		for _, path := range r.paths {
			steps := pointer(path)
			value, found := at(s.Before.Object, steps)
			set(s.Body.Object, steps, value, found)
			if after != nil {
				set(after.Object, steps, value, found)
			}
		}
	}
	return s, after
}

// pointer splits a JSON pointer (RFC 6901).
func pointer(path string) []string {
	steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return steps
}

// at is the value at a path.
func at(v any, path []string) (any, bool) {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// set puts a value at a path, or takes it away, where what is around it is there.
func set(in map[string]any, path []string, value any, present bool) {
	around, ok := at(in, path[:len(path)-1])
	if !ok {
		return
	}
	last := path[len(path)-1]
	switch around := around.(type) {
	case map[string]any:
		if present {
			around[last] = value
			return
		}
		delete(around, last)
	case []any:
		if i, err := strconv.Atoi(last); err == nil && present && i >= 0 && i < len(around) {
			around[i] = value
		}
	}
}
