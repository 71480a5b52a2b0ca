// Package objecttest reads and compares objects for tests, and reads cases.
package objecttest

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Parse reads an object from YAML, with whole numbers as int64, as in a client. The
// object need not be valid; for an empty text it returns nil.
func Parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}

// Written returns a text that changes with each write to an object, except for writes to its status
// alone: Kubernetes' own controllers make those when they get to it. A Deployment's status, for
// example, changes long after its new pods are ready, when the old ReplicaSet has been scaled down.
func Written(t testing.TB, o *unstructured.Unstructured) string {
	t.Helper()
	name := fmt.Sprint(o.GetKind(), " ", o.GetNamespace(), "/", o.GetName(), " ", o.GetUID(), " ")
	if _, has := o.Object["status"]; !has {
		return name + o.GetResourceVersion()
	}
	writers := slices.DeleteFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "status" })
	text, err := json.Marshal([]any{o.GetGeneration(), o.GetDeletionTimestamp(), writers})
	if err != nil {
		t.Fatal(err)
	}
	return name + string(text)
}
