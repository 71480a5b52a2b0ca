package managedfields

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StringDataAsData returns the entries as if what managers own of a Secret's stringData
// by server-side apply, as Helm 4 does, were data. An entry whose fields can't be read
// is an error.
func StringDataAsData(entries []metav1.ManagedFieldsEntry, managers ...string) ([]metav1.ManagedFieldsEntry, error) {
	out := slices.Clone(entries)
	for i, entry := range entries {
		if !ownsStringData(entry) || !slices.Contains(managers, entry.Manager) {
			continue
		}
		var fields map[string]map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			return nil, fmt.Errorf("read what %s owns: %w", entry.Manager, err)
		}
		data := fields["f:data"]
		if data == nil {
			data = map[string]any{}
		}
		for key, owned := range fields["f:stringData"] {
			data[key] = owned
		}
		fields["f:data"] = data
		delete(fields, "f:stringData")
		raw, err := json.Marshal(fields)
		if err != nil {
			return nil, fmt.Errorf("write what %s owns: %w", entry.Manager, err)
		}
		own := metav1.FieldsV1{}
		own.SetRawBytes(raw)
		out[i].FieldsV1 = &own
	}
	return out, nil
}

// ownsStringData reports whether an entry comes from an apply with stringData.
func ownsStringData(entry metav1.ManagedFieldsEntry) bool {
	if entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
		return false
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields)
	return err == nil && fields["f:stringData"] != nil
}
