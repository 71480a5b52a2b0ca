// Package managedfields reads and rewrites an object's managedFields: who wrote a
// field last, who wrote client-side, which conflicts are edits by hand, and what
// the entries have to be for a server-side apply to take fields over.
//
// It sends nothing. The format is that of
// https://github.com/kubernetes-sigs/structured-merge-diff/tree/v6.4.2/fieldpath.
package managedfields

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// LastWriter returns the entry of the field manager, other than our own, that last set
// the field at path, as fielddiff names it ("spec.containers[web].image"), or an empty
// entry when nobody claims it. The live object tells which items have these names. The
// API server counts the defaults that an update caused among the manager's fields. Of
// several claims the most specific one wins, and of those the latest.
func LastWriter(entries []metav1.ManagedFieldsEntry, live map[string]any, path string, own ...string) metav1.ManagedFieldsEntry {
	var found metav1.ManagedFieldsEntry
	segments, depth := segmentsOf(path), 1
	for _, entry := range entries {
		if slices.Contains(own, entry.Manager) {
			continue
		}
		set, err := fieldsOf(entry)
		if err != nil {
			continue
		}
		d := claimed(set, live, segments)
		later := found.Time == nil || entry.Time != nil && entry.Time.After(found.Time.Time)
		if d > depth || d == depth && later {
			found, depth = entry, d
		}
	}
	return found
}

// Owns reports whether an entry's manager owns the field at path, whose items are named by
// merge key, or a part of it.
func Owns(entry metav1.ManagedFieldsEntry, path string) bool {
	set, err := fieldsOf(entry)
	return err == nil && claimed(set, nil, segmentsOf(path)) > 0
}

// claimed returns how many segments of the path the set of fields names: all of them,
// or those of a list or map around the field that is owned as a whole; else 0.
func claimed(set *fieldpath.Set, live any, segments []string) int {
	for i, s := range segments {
		e, below, has := element(set, live, s)
		if !has {
			return 0
		}
		next, parts := set.Children.Get(e)
		switch {
		case i == len(segments)-1, !parts && i > 0:
			return i + 1
		case !parts:
			return 0
		}
		set, live = next, below
	}
	return 0
}

// element goes down one segment, in the set of fields and in the live object: to a field, or to the list item with
// that name. has is false if the set has nothing there.
func element(set *fieldpath.Set, live any, segment string) (e fieldpath.PathElement, below any, has bool) {
	name, inBrackets := strings.CutPrefix(segment, "[")
	if inBrackets {
		list, _ := live.([]any)
		if e, item, found := itemNamed(name, set, list); found {
			return e, item, true
		}
	}
	// A bracket may also quote a map key that has dots in it.
	e = fieldpath.FieldNameElement(name)
	parent, _ := live.(map[string]any)
	_, parts := set.Children.Get(e)
	return e, parent[name], parts || set.Members.Has(e)
}

// segmentsOf splits "spec.containers[web].env[a.b]" into spec, containers,
// [web, env, [a.b.
func segmentsOf(path string) []string {
	var segments []string
	for path != "" {
		switch path[0] {
		case '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(segments, path)
			}
			segments = append(segments, path[:end])
			path = path[end+1:]
		case '.':
			path = path[1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				return append(segments, path)
			}
			segments = append(segments, path[:end])
			path = path[end:]
		}
	}
	return segments
}
