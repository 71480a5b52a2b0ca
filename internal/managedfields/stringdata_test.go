package managedfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

func TestStringDataAsData(t *testing.T) {
	live := objecttest.Parse(t, `{"metadata":{"managedFields":[
		{"manager":"helm","operation":"Apply","fieldsV1":{"f:stringData":{"f:a":{}},"f:data":{"f:b":{}},"f:type":{}}},
		{"manager":"somebody","operation":"Apply","fieldsV1":{"f:stringData":{"f:c":{}}}}]}}`)
	entries, err := StringDataAsData(live.GetManagedFields(), "helm")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, string(e.FieldsV1.GetRawBytes()))
	}
	want := []string{`{"f:data":{"f:a":{},"f:b":{}},"f:type":{}}`, `{"f:stringData":{"f:c":{}}}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first := string(live.GetManagedFields()[0].FieldsV1.GetRawBytes()); first == got[0] {
		t.Error("the entries that were given have changed")
	}
	live = objecttest.Parse(t, `{"metadata":{"managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:stringData":{},"k:data":{}}}]}}`)
	entries, err = StringDataAsData(live.GetManagedFields(), "helm")
	if diff := cmp.Diff(live.GetManagedFields(), entries); err != nil || diff != "" {
		t.Errorf("fields that make no sense have changed: %v, %s", err, diff)
	}
}
