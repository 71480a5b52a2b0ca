package patch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Server-side, a Secret is sent as it is stored, or dropped keys would stay.
func TestWithoutStringData(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"texts become data, over what is there": {
			"{apiVersion: v1, kind: Secret, data: {a: eA==, b: eA==}, stringData: {b: 'y', c: ''}}",
			"{apiVersion: v1, kind: Secret, data: {a: eA==, b: eQ==, c: ''}}",
		},
		"what is no text stays for the server to refuse": {
			"{apiVersion: v1, kind: Secret, stringData: {a: 1, b: x}}",
			"{apiVersion: v1, kind: Secret, data: {b: eA==}, stringData: {a: 1}}",
		},
		"other kinds may have such a field": {
			"{apiVersion: example.com/v1, kind: Secret, stringData: {a: x}}",
			"{apiVersion: example.com/v1, kind: Secret, stringData: {a: x}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc := object(t, c.doc)
			if diff := cmp.Diff(object(t, c.want).Object, WithoutStringData(doc).Object); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(object(t, c.doc).Object, doc.Object); diff != "" {
				t.Errorf("the document was changed:\n%s", diff)
			}
		})
	}
}

func TestStringDataAsData(t *testing.T) {
	live := object(t, `{"metadata":{"managedFields":[
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
	live = object(t, `{"metadata":{"managedFields":[{"manager":"helm","operation":"Apply","fieldsV1":{"f:stringData":{},"f:data":1}}]}}`)
	if _, err := StringDataAsData(live.GetManagedFields(), "helm"); err == nil {
		t.Error("fields that make no sense were read")
	}
}
