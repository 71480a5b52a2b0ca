// Package objecttest reads objects and cases for tests.
package objecttest

import (
	"testing"

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
