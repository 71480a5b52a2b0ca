package plan

import (
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// writing tells who last set a field of a live object, with how long ago
// that was, and when; nothing when nobody but the release itself claims it.
func (b *builder) writing(id manifest.ID, path string) (who string, at time.Time) {
	entry := writer(b.live(id).Managers, path, b.in.Options.FieldManager)
	if entry.Time == nil {
		return entry.Manager, time.Time{}
	}
	at = entry.Time.UTC()
	if b.in.Now.IsZero() {
		return entry.Manager, at
	}
	return entry.Manager + " " + Age(b.in.Now.Sub(at)) + " ago", at
}

// writer is the field manager other than the release's own ones that last set a
// field, by an object's managedFields. An update counts the defaults that it
// brought about to the manager's fields. Of several that claim it the one that
// names it most closely counts, and of these the latest.
func writer(managers []metav1.ManagedFieldsEntry, path, own string) metav1.ManagedFieldsEntry {
	var found metav1.ManagedFieldsEntry
	segments, depth := fieldSegments(path), 1
	for _, entry := range managers {
		if entry.FieldsV1 == nil || entry.Manager == own || entry.Manager == helmsManager {
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

// claimed is the path's length when the set of fields holds all of it, or all of
// a list or map around it that is owned as a whole. Else it is 0.
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
