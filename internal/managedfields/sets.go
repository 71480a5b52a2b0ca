package managedfields

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// fieldsOf returns the fields that an entry's manager owns. An entry that can't be read is an error.
func fieldsOf(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("read what %s owns: %w", entry.Manager, err)
	}
	return set, nil
}

// withFields returns the entry with other fields.
func withFields(entry metav1.ManagedFieldsEntry, set *fieldpath.Set) (metav1.ManagedFieldsEntry, error) {
	raw, err := set.ToJSON()
	if err != nil {
		return entry, fmt.Errorf("write what %s owns: %w", entry.Manager, err)
	}
	entry.FieldsV1 = &metav1.FieldsV1{}
	entry.FieldsV1.SetRawBytes(raw)
	return entry, nil
}
