package manifest_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// TestLabelsAsUnstructuredHasThem: labels and annotations are read and added as by the API
// machinery's accessors, whatever they hold.
func TestLabelsAsUnstructuredHasThem(t *testing.T) {
	more := map[string]string{"b": "new", "c": "3"}
	for name, texts := range map[string]any{
		"none": nil, "empty": map[string]any{}, "texts": map[string]any{"a": "1", "b": "2"},
		"null": map[string]any{"a": nil, "b": "2"}, "number": map[string]any{"a": int64(1), "b": "2"}, "list": []any{"a"},
	} {
		t.Run(name, func(t *testing.T) {
			object := func() *unstructured.Unstructured {
				return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web", "labels": texts, "annotations": texts}}}
			}
			ours, theirs := object(), object()
			for _, key := range []string{"a", "b", "c"} {
				if got, want := manifest.Label(ours, key), theirs.GetLabels()[key]; got != want {
					t.Errorf("label %s is %q, want %q", key, got, want)
				}
				if got, want := manifest.Annotation(ours, key), theirs.GetAnnotations()[key]; got != want {
					t.Errorf("annotation %s is %q, want %q", key, got, want)
				}
			}
			manifest.AddLabels(ours, more)
			manifest.AddAnnotations(ours, more)
			labels, annotations := map[string]string{}, map[string]string{}
			maps.Copy(labels, theirs.GetLabels())
			maps.Copy(labels, more)
			maps.Copy(annotations, theirs.GetAnnotations())
			maps.Copy(annotations, more)
			theirs.SetLabels(labels)
			theirs.SetAnnotations(annotations)
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Error(diff)
			}
		})
	}
}
