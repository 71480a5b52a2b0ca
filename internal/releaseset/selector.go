package releaseset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Selector says which entries are selected: those that match one of its terms. An empty
// one selects all.
type Selector [][]condition

// condition is "key=value" or "key!=value".
type condition struct {
	key, value string
	not        bool
}

// ParseSelector reads texts like "key=value,key!=value": all conditions of a text have
// to hold, and of several texts one. Besides an entry's own labels there are name,
// namespace, cluster and chart, as in helmfile (its chart is the last part of the
// chart's name).
func ParseSelector(texts []string) (Selector, error) {
	var s Selector
	for _, text := range texts {
		var term []condition
		for part := range strings.SplitSeq(text, ",") {
			key, value, ok := strings.Cut(part, "=")
			key, not := strings.CutSuffix(key, "!")
			if key = strings.TrimSpace(key); !ok || key == "" {
				return nil, fmt.Errorf("%q is not a selector: expected KEY=VALUE or KEY!=VALUE, several separated by commas", text)
			}
			term = append(term, condition{key, strings.TrimSpace(strings.TrimPrefix(value, "=")), not})
		}
		s = append(s, term)
	}
	return s, nil
}

// Selects reports whether an entry is selected.
func (s Selector) Selects(e Entry) bool {
	if len(s) == 0 {
		return true
	}
	labels := maps.Clone(e.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	chart := e.Chart.Path + e.Chart.Name
	for key, value := range map[string]string{
		"name": e.Name, "namespace": e.Namespace, "cluster": e.Cluster, "chart": chart[strings.LastIndex(chart, "/")+1:],
	} {
		labels[key] = value
	}
	for _, term := range s {
		if fits(term, labels) {
			return true
		}
	}
	return false
}

func fits(term []condition, labels map[string]string) bool {
	for _, c := range term {
		if value, ok := labels[c.key]; (ok && value == c.value) == c.not {
			return false
		}
	}
	return true
}

// UndeclaredError says that files do not declare the cluster or the environment whose releases are to be
// read.
type UndeclaredError struct{ What string }

func (e *UndeclaredError) Error() string { return e.What }

// InCluster keeps only the entries of one cluster. Errors: *UndeclaredError.
func (s *Set) InCluster(name string) error {
	if _, known := s.Clusters[name]; !known {
		return &UndeclaredError{fmt.Sprintf("the set has no cluster %q: it declares %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(s.Clusters)), ", "), "none"))}
	}
	s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return e.Cluster != name })
	return nil
}
