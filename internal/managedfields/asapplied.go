package managedfields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AsApplied returns an object's managedFields as if manager had applied the fields,
// written as Rivals does, and nobody had set them by hand: whatever it does not apply
// again is then removed, with everything below it. Other owners of such a field keep
// it. apiVersion is the object's. An entry that is not JSON is an error.
func AsApplied(entries []metav1.ManagedFieldsEntry, manager, apiVersion string, fields []string) ([]metav1.ManagedFieldsEntry, error) {
	if len(fields) == 0 {
		return entries, nil
	}
	out := slices.Clone(entries)
	own := slices.IndexFunc(out, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
	})
	if own < 0 {
		own = len(out)
		out = append(out, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiVersion, FieldsType: "FieldsV1",
		})
	}
	for i, entry := range out {
		var change func(set map[string]any, path []string)
		switch {
		case i == own:
			change = include
		case IsKubectlUpdate(entry):
			change = exclude
		default:
			continue
		}
		changed, err := withFields(entry, fields, change)
		if err != nil {
			return nil, fmt.Errorf("read what %s owns: %w", entry.Manager, err)
		}
		out[i] = changed
	}
	return out, nil
}

// withFields returns the entry after change was made to its set of fields, for each field.
func withFields(entry metav1.ManagedFieldsEntry, fields []string, change func(set map[string]any, path []string)) (metav1.ManagedFieldsEntry, error) {
	set := map[string]any{}
	if entry.FieldsV1 != nil {
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set); err != nil {
			return entry, err
		}
	}
	for _, field := range fields {
		change(set, setPath(field))
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return entry, err
	}
	entry.FieldsV1 = &metav1.FieldsV1{}
	entry.FieldsV1.SetRawBytes(raw)
	return entry, nil
}

// include adds a field to a set.
func include(set map[string]any, path []string) {
	for _, key := range path {
		next, ok := set[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			set[key] = next
		}
		set = next
	}
}

// exclude removes a field from a set, and its parents if they are then empty: an empty
// one would own everything below it.
func exclude(set map[string]any, path []string) {
	next, ok := set[path[0]].(map[string]any)
	if !ok {
		return
	}
	if len(path) > 1 {
		if len(next) == 0 {
			return // owned as a whole
		}
		if exclude(next, path[1:]); len(next) > 0 {
			return
		}
	}
	delete(set, path[0])
}

// setPath returns "spec.volumes[data].emptyDir" as managedFields write it: f:spec,
// f:volumes, k:{"name":"data"}, f:emptyDir.
func setPath(field string) []string {
	var path []string
	for _, segment := range segmentsOf(field) {
		if name, ok := strings.CutPrefix(segment, "["); ok {
			quoted, _ := json.Marshal(name) // a string always can be
			path = append(path, `k:{"name":`+string(quoted)+`}`)
		} else {
			path = append(path, "f:"+segment)
		}
	}
	return path
}
