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
// the field at path ("spec.containers[web].image"), or an empty entry when nobody
// claims it. The API server counts the defaults that an update caused among the
// manager's fields. Of several claims the most specific one wins, and of those the
// latest.
func LastWriter(entries []metav1.ManagedFieldsEntry, path string, own ...string) metav1.ManagedFieldsEntry {
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
		d := claimed(fields, segments)
		later := found.Time == nil || entry.Time != nil && entry.Time.After(found.Time.Time)
		if d > depth || d == depth && later {
			found, depth = entry, d
		}
	}
	return found
}

// Owns reports whether an entry's manager owns the field at path, or a part of it.
func Owns(entry metav1.ManagedFieldsEntry, path string) bool {
	var fields map[string]any
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	return claimed(fields, segmentsOf(path)) > 0
}

// claimed returns how many segments of the path the set of fields names: all of them,
// or those of a list or map around the field that is owned as a whole; else 0.
func claimed(fields map[string]any, segments []string) int {
	for i, s := range segments {
		next := step(fields, s)
		switch {
		case next != nil:
			fields = next
		case i > 1 && len(fields) == 0:
			return i
		default:
			return 0
		}
	}
	return len(segments)
}

// step goes down one segment: to a field, or to the list item whose key has that value.
func step(fields map[string]any, segment string) map[string]any {
	if item, ok := strings.CutPrefix(segment, "["); ok {
		for k, v := range fields {
			if strings.HasPrefix(k, "k:") && strings.Contains(k, `:"`+item+`"`) {
				m, _ := v.(map[string]any)
				return m
			}
		}
		// A bracket may also quote a map key that has dots in it.
		m, _ := fields["f:"+item].(map[string]any)
		return m
	}
	m, _ := fields["f:"+segment].(map[string]any)
	return m
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
