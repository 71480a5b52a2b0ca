package managedfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestClientSideManagers(t *testing.T) {
	const (
		updated = `{"manager":"helm","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}`
		old     = `{"manager":"helm","operation":"Update","apiVersion":"v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:old":{}}}}`
		applied = `{"manager":"helm","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:b":{}}}}`
		edited  = `{"manager":"kubectl-edit","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:c":{}}}}`
		scaled  = `{"manager":"helm","operation":"Update","subresource":"scale","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}`
		other   = `{"manager":"ours","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:d":{}}}}`
	)
	for why, c := range map[string]struct {
		entries string
		want    []string
	}{
		"a client-side patch is an update":          {`[` + updated + `]`, []string{"helm"}},
		"a manager is named once":                   {`[` + updated + `,` + old + `]`, []string{"helm"}},
		"what is applied is owned already":          {`[` + applied + `]`, nil},
		"others, and subresources, keep their own":  {`[` + edited + `,` + scaled + `]`, nil},
		"another field manager of ours gives, too":  {`[` + updated + `,` + other + `]`, []string{"helm", "ours"}},
		"an object need not have any managed field": {`null`, nil},
	} {
		t.Run(why, func(t *testing.T) {
			live := objecttest.Parse(t, `{"kind":"ConfigMap","metadata":{"name":"a","managedFields":`+c.entries+`}}`)
			if diff := cmp.Diff(c.want, ClientSideManagers(live, live.GetManagedFields(), "helm", "ours")); diff != "" {
				t.Error(diff)
			}
		})
	}
	secret := objecttest.Parse(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:stringData":{"f:a":{}}}}]}}`)
	if diff := cmp.Diff([]string{"helm"}, ClientSideManagers(secret, secret.GetManagedFields(), "helm")); diff != "" {
		t.Errorf("what was applied as stringData stays when it is dropped: %s", diff)
	}
	if got := ClientSideManagers(nil, nil, "helm"); got != nil {
		t.Errorf("an object that is not there has updaters: %v", got)
	}
}

func TestLastApplied(t *testing.T) {
	live := func(annotations map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "annotations": annotations}}}
	}
	const sent = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"},"data":{"n":1}}`
	got := LastApplied(live(map[string]any{corev1.LastAppliedConfigAnnotation: sent, "team": "shop"}))
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"n": int64(1)},
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{corev1.LastAppliedConfigAnnotation: sent}},
	}
	if diff := cmp.Diff(want, got.Object); diff != "" {
		t.Error(diff)
	}
	for _, none := range []map[string]any{nil, {"team": "shop"}, {corev1.LastAppliedConfigAnnotation: "{"}, {corev1.LastAppliedConfigAnnotation: "{}"}} {
		if got := LastApplied(live(none)); got != nil {
			t.Errorf("LastApplied(%v) = %v, want none", none, got)
		}
	}
}
