package patch

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object reads YAML; an empty text is no object.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: m}
}

func mustMerge(t testing.TB, stored, live, target *unstructured.Unstructured) (Patch, *unstructured.Unstructured) {
	t.Helper()
	p, err := ThreeWay(stored, live, target)
	if err != nil {
		t.Fatal(err)
	}
	after, err := Apply(live, p)
	if err != nil {
		t.Fatalf("apply %s: %v", p.Data, err)
	}
	return p, after
}
