package patch

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
