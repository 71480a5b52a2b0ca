package expression_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/expression"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
)

// The first of inProgress, failed and current that holds determines the state of an
// object of the group and kind, in any version.
func TestHealth(t *testing.T) {
	judge, err := expression.Health([]flux.HealthCheck{{
		APIVersion: "example.com/v1", Kind: "Thing", InProgress: "status.phase == 'coming'", Failed: "status.phase in ['broken', 'coming']", Current: "status.phase == 'up'",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why, apiVersion, kind string
		status                map[string]any
		judged                bool
		want                  readiness.State
	}{
		{"no status yet", "example.com/v1", "Thing", nil, true, readiness.Progressing},
		{"in progress comes before failed", "example.com/v1", "Thing", map[string]any{"phase": "coming"}, true, readiness.Progressing},
		{"failed", "example.com/v1", "Thing", map[string]any{"phase": "broken"}, true, readiness.Failed},
		{"current, in another version", "example.com/v2", "Thing", map[string]any{"phase": "up"}, true, readiness.Ready},
		{"of an older generation", "example.com/v1", "Thing", map[string]any{"phase": "up", "observedGeneration": int64(1)}, true, readiness.Progressing},
		{"nothing holds", "example.com/v1", "Thing", map[string]any{"phase": "other"}, true, readiness.Progressing},
		{"another group", "example.org/v1", "Thing", map[string]any{"phase": "up"}, false, ""},
		{"another kind", "example.com/v1", "Other", map[string]any{"phase": "up"}, false, ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": tc.apiVersion, "kind": tc.kind, "metadata": map[string]any{"generation": int64(2)}}}
		if tc.status != nil {
			o.Object["status"] = tc.status
		}
		if got, judged := judge(o); judged != tc.judged || got.State != tc.want {
			t.Errorf("%s: %+v, judged %t", tc.why, got, judged)
		}
	}
	if _, err := expression.Health([]flux.HealthCheck{{APIVersion: "example.com/v1", Kind: "Thing", Current: "status.phase =="}}); err == nil {
		t.Error("an expression that ends too early is taken")
	}
}

// A check without a kind is for all kinds of its group that have none of their own.
func TestHealthOfAGroup(t *testing.T) {
	judge, err := expression.Health([]flux.HealthCheck{
		{APIVersion: "example.com/v1", Current: "true"},
		{APIVersion: "example.com/v1", Kind: "Thing", Failed: "true", Current: "false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		apiVersion, kind string
		want             readiness.State
	}{
		{"example.com/v2", "Other", readiness.Ready},
		{"example.com/v1", "Thing", readiness.Failed},
		{"example.org/v1", "Other", ""},
		{"v1", "Other", ""},
	} {
		got, judged := judge(&unstructured.Unstructured{Object: map[string]any{"apiVersion": tc.apiVersion, "kind": tc.kind}})
		if judged != (tc.want != "") || got.State != tc.want {
			t.Errorf("%s, %s: %+v, judged %t", tc.apiVersion, tc.kind, got, judged)
		}
	}
}
