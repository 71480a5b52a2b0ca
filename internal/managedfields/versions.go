package managedfields

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Versions returns, without repeats, the API versions of the group in which the entries are.
func Versions(entries []metav1.ManagedFieldsEntry, group string) []string {
	var found []string
	for _, entry := range entries {
		gv, err := schema.ParseGroupVersion(entry.APIVersion)
		if err == nil && gv.Group == group && !slices.Contains(found, gv.Version) {
			found = append(found, gv.Version)
		}
	}
	return found
}

// InVersion returns the entries as if those in the versions of the object's group were in that of apiVersion,
// the object's. Entries that a manager then has twice become one. An entry that is not JSON is an error.
func InVersion(entries []metav1.ManagedFieldsEntry, apiVersion string, versions []string) ([]metav1.ManagedFieldsEntry, error) {
	to, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || len(versions) == 0 {
		return entries, err
	}
	var out []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		gv, err := schema.ParseGroupVersion(entry.APIVersion)
		if err == nil && gv.Group == to.Group && slices.Contains(versions, gv.Version) {
			entry.APIVersion = apiVersion
		}
		twin := slices.IndexFunc(out, func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == entry.Manager && e.Operation == entry.Operation && e.Subresource == entry.Subresource && e.APIVersion == entry.APIVersion
		})
		if twin < 0 {
			out = append(out, entry)
			continue
		}
		if out[twin], err = union(out[twin], entry); err != nil {
			return nil, fmt.Errorf("read what %s owns: %w", entry.Manager, err)
		}
	}
	return out, nil
}

// union returns entry a with the fields of b as well, and the later time.
func union(a, b metav1.ManagedFieldsEntry) (metav1.ManagedFieldsEntry, error) {
	var sets [2]map[string]any
	for i, entry := range []metav1.ManagedFieldsEntry{a, b} {
		if entry.FieldsV1 == nil {
			continue
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &sets[i]); err != nil {
			return a, err
		}
	}
	raw, err := json.Marshal(joined(sets[0], sets[1]))
	if err != nil {
		return a, err
	}
	if b.Time != nil && !b.Time.Before(a.Time) {
		a.Time = b.Time
	}
	a.FieldsV1 = &metav1.FieldsV1{}
	a.FieldsV1.SetRawBytes(raw)
	return a, nil
}

// joined adds the fields of set b to set a, which may be nil.
func joined(a, b map[string]any) map[string]any {
	if a == nil {
		a = map[string]any{}
	}
	for key, below := range b {
		own, _ := a[key].(map[string]any)
		more, _ := below.(map[string]any)
		a[key] = joined(own, more)
	}
	return a
}
