package objecttest_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// A write to a status is told from all others.
func TestWritten(t *testing.T) {
	object := func(status bool, version, subresource, at string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "Deployment", "metadata": map[string]any{
			"name": "web", "namespace": "shop", "resourceVersion": version, "managedFields": []any{
				map[string]any{"manager": "controller", "operation": "Apply", "time": "2026-11-27T10:00:00Z"},
				map[string]any{"manager": "other", "operation": "Update", "subresource": subresource, "time": at},
			},
		}}}
		if status {
			o.Object["status"] = map[string]any{}
		}
		return o
	}
	const early, late = "2026-11-27T10:00:01Z", "2026-11-27T10:00:02Z"
	for _, tc := range []struct {
		why         string
		status      bool
		subresource string
		same        bool
	}{
		{"a status", true, "status", true},
		{"another subresource", true, "scale", false},
		{"the object", true, "", false},
		{"an object without a status", false, "", false},
	} {
		before, after := object(tc.status, "1", tc.subresource, early), object(tc.status, "2", tc.subresource, late)
		if same := objecttest.Written(t, before) == objecttest.Written(t, after); same != tc.same {
			t.Errorf("%s: the same: %t", tc.why, same)
		}
	}
}
