package plan

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// writer names the field manager that last set a field, by the object's
// managedFields; "" when nobody claims it.
func writer(live *unstructured.Unstructured, path string) string {
	if live == nil {
		return ""
	}
	segments := fieldSegments(path)
	name, depth := "", 0
	for _, entry := range live.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			continue
		}
		if d := claimed(fields, segments); d > depth {
			name, depth = entry.Manager, d
		}
	}
	return name
}

// claimed is the path's length when the set of fields holds all of it, else 0.
func claimed(fields map[string]any, segments []string) int {
	for _, s := range segments {
		next := step(fields, s)
		if next == nil {
			return 0
		}
		fields = next
	}
	return len(segments)
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
