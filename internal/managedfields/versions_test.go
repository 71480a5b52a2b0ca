package managedfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestInVersion(t *testing.T) {
	live := objecttest.Parse(t, `{"apiVersion":"shop.io/v1","kind":"Cart","metadata":{"name":"a","managedFields":[
{"manager":"helm","operation":"Apply","apiVersion":"shop.io/v1alpha1","fieldsV1":{"f:spec":{"f:a":{}}}},
{"manager":"carts","operation":"Update","apiVersion":"shop.io/v1","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:b":{},"f:list":{".":{}}}}},
{"manager":"carts","operation":"Update","apiVersion":"shop.io/v1alpha1","time":"2026-01-02T00:00:00Z","fieldsV1":{"f:spec":{"f:c":{},"f:list":{"v:1":{}}}}},
{"manager":"carts","operation":"Update","apiVersion":"shop.io/v1alpha1","subresource":"status","fieldsV1":{"f:status":{}}},
{"manager":"other","operation":"Update","apiVersion":"shop.io/v1beta1","fieldsV1":{"f:spec":{"f:d":{}}}},
{"manager":"foreign","operation":"Update","apiVersion":"v1alpha1","fieldsV1":{"f:spec":{"f:e":{}}}}]}}`)
	entries := live.GetManagedFields()
	if diff := cmp.Diff([]string{"v1alpha1", "v1", "v1beta1"}, Versions(entries, "shop.io")); diff != "" {
		t.Errorf("Versions (-want +got):\n%s", diff)
	}
	got, err := InVersion(entries, "shop.io/v1", []string{"v1alpha1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"f:spec":{"f:a":{}}}`,
		`{"f:spec":{"f:b":{},"f:c":{},"f:list":{".":{},"v:1":{}}}}`,
		`{"f:status":{}}`,
		`{"f:spec":{"f:d":{}}}`,
		`{"f:spec":{"f:e":{}}}`,
	}
	if diff := cmp.Diff(want, rawSets(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var versions []string
	for _, e := range got {
		versions = append(versions, e.APIVersion)
	}
	if diff := cmp.Diff([]string{"shop.io/v1", "shop.io/v1", "shop.io/v1", "shop.io/v1beta1", "v1alpha1"}, versions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[1].Time.Day() != 2 {
		t.Errorf("the later time counts, not %s", got[1].Time)
	}
	entries[2].FieldsV1.SetRawBytes([]byte("{"))
	if _, err := InVersion(entries, "shop.io/v1", []string{"v1alpha1"}); err == nil {
		t.Error("fields that make no sense were read")
	}
	if got, err := InVersion(entries, "shop.io/v1", nil); err != nil || len(got) != len(entries) {
		t.Errorf("without versions nothing changes: %v, %v", got, err)
	}
}
