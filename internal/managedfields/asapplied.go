package managedfields

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
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
	paths := fieldpath.NewSet()
	for _, field := range fields {
		paths.Insert(setPath(field))
	}
	for i, entry := range out {
		if i != own && !IsKubectlUpdate(entry) {
			continue
		}
		set, err := fieldsOf(entry)
		if err != nil {
			return nil, err
		}
		if i == own {
			set = set.Union(paths)
		} else {
			set = set.RecursiveDifference(paths)
		}
		if out[i], err = withFields(entry, set); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// setPath returns "spec.volumes[data].emptyDir" as managedFields write it: f:spec,
// f:volumes, k:{"name":"data"}, f:emptyDir.
func setPath(field string) fieldpath.Path {
	var path fieldpath.Path
	for _, segment := range segmentsOf(field) {
		if name, ok := strings.CutPrefix(segment, "["); ok {
			path = append(path, fieldpath.PathElement{Key: &value.FieldList{{Name: "name", Value: value.NewValueInterface(name)}}})
		} else {
			path = append(path, fieldpath.FieldNameElement(segment))
		}
	}
	return path
}
