package plan

import (
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// writing tells who last set a field of the live object, with how long ago
// that was, and when; nothing when nobody claims it.
func (b *builder) writing(live *unstructured.Unstructured, path string) (who string, at time.Time) {
	entry := writer(live, path)
	if entry.Time == nil {
		return entry.Manager, time.Time{}
	}
	at = entry.Time.UTC()
	if b.in.Now.IsZero() {
		return entry.Manager, at
	}
	return entry.Manager + " " + Age(b.in.Now.Sub(at)) + " ago", at
}

// writer is the field manager that last set a field, by the object's
// managedFields. Of several that claim it the latest counts.
func writer(live *unstructured.Unstructured, path string) metav1.ManagedFieldsEntry {
	var found metav1.ManagedFieldsEntry
	if live == nil {
		return found
	}
	segments := fieldSegments(path)
	for _, entry := range live.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil || !claimed(fields, segments) {
			continue
		}
		if found.Manager == "" || found.Time == nil || entry.Time != nil && entry.Time.After(found.Time.Time) {
			found = entry
		}
	}
	return found
}

// claimed says whether the set of fields holds all of the path.
func claimed(fields map[string]any, segments []string) bool {
	for _, s := range segments {
		next := step(fields, s)
		if next == nil {
			return false
		}
		fields = next
	}
	return len(segments) > 0
}

// step goes down one segment: a field, or the list item whose key has the value.
func step(fields map[string]any, segment string) map[string]any {
	if item, ok := strings.CutPrefix(segment, "["); ok {
		for k, v := range fields {
			if strings.HasPrefix(k, "k:") && strings.Contains(k, `"`+item+`"`) {
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

// fieldSegments cuts "spec.containers[web].env[a.b]" into spec, containers,
// [web, env, [a.b.
func fieldSegments(path string) []string {
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
