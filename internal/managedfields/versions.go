package managedfields

import (
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
			return nil, err
		}
	}
	return out, nil
}

// union returns entry a with the fields of b as well, and the later time.
func union(a, b metav1.ManagedFieldsEntry) (metav1.ManagedFieldsEntry, error) {
	ofA, err := fieldsOf(a)
	if err != nil {
		return a, err
	}
	ofB, err := fieldsOf(b)
	if err != nil {
		return a, err
	}
	if b.Time != nil && !b.Time.Before(a.Time) {
		a.Time = b.Time
	}
	return withFields(a, ofA.Union(ofB))
}
