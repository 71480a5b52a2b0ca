package managedfields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// stringData is the path of the field that the API server does not keep.
var stringData = fieldpath.MakePathOrDie("stringData")

// StringDataAsData returns the entries as if what managers own of a Secret's stringData
// by server-side apply, as Helm 4 does, were data. An entry whose fields can't be read
// stays as it is.
func StringDataAsData(entries []metav1.ManagedFieldsEntry, managers ...string) ([]metav1.ManagedFieldsEntry, error) {
	out := slices.Clone(entries)
	for i, entry := range entries {
		if !ownsStringData(entry) || !slices.Contains(managers, entry.Manager) {
			continue
		}
		set, err := fieldsOf(entry)
		if err != nil {
			return nil, err
		}
		after := set.RecursiveDifference(fieldpath.NewSet(stringData))
		set.Iterate(func(path fieldpath.Path) {
			if len(path) > 1 && path[0].Equals(stringData[0]) {
				after.Insert(append(fieldpath.MakePathOrDie("data"), path[1:]...))
			}
		})
		if out[i], err = withFields(entry, after); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ownsStringData reports whether an entry comes from an apply with stringData.
func ownsStringData(entry metav1.ManagedFieldsEntry) bool {
	if entry.Operation != metav1.ManagedFieldsOperationApply {
		return false
	}
	set, err := fieldsOf(entry)
	return err == nil && (set.Has(stringData) || !set.WithPrefix(stringData[0]).Empty())
}
