// Package managedfields reads and rewrites an object's managedFields: who wrote a
// field last, who wrote client-side, which conflicts are edits by hand, and what
// the entries have to be for a server-side apply to take fields over.
//
// It sends nothing. The format is that of
// https://github.com/kubernetes-sigs/structured-merge-diff/tree/v6.4.2/fieldpath.
package managedfields

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		if entry.FieldsV1 == nil || slices.Contains(own, entry.Manager) {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			continue
		}
		d := claimed(fields, live, segments)
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
	var fields map[string]any
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	return claimed(fields, nil, segmentsOf(path)) > 0
}

// claimed returns how many segments of the path the set of fields names: all of them,
// or those of a list or map around the field that is owned as a whole; else 0.
func claimed(fields map[string]any, live any, segments []string) int {
	for i, s := range segments {
		next, below := step(fields, live, s)
		switch {
		case next != nil:
			fields, live = next, below
		case i > 1 && len(fields) == 0:
			return i
		default:
			return 0
		}
	}
	return len(segments)
}

// step goes down one segment, in the set of fields and in the live object: to a field, or
// to the list item with that name.
func step(fields map[string]any, live any, segment string) (next map[string]any, below any) {
	name, inBrackets := strings.CutPrefix(segment, "[")
	if inBrackets {
		list, _ := live.([]any)
		if key, item := itemNamed(name, fields, list); key != "" {
			next, _ = fields[key].(map[string]any)
			return next, item
		}
	}
	// A bracket may also quote a map key that has dots in it.
	next, _ = fields["f:"+name].(map[string]any)
	parent, _ := live.(map[string]any)
	return next, parent[name]
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
