package cluster

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The text without managedFields says what the object without them says, and
// what is no object stays as it is.
func FuzzCutManagedFields(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"A","metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:a":{}}}]},"spec":{"metadata":{"managedFields":[1]}}}`,
		`{"metadata":{"managedFields":[{"x":"]\"}"}],"name":"a"}}`,
		"{ \"metadata\" : {\n\"managedFields\" : [ ] }\n}",
		`{"metadata":{"managedFields":[]}}`,
		`{"metadata":{"a":"\\","managedFields":null,"b":1}}`,
		`{"metadata":{}}`, `{}`, `[]`, ``, `{"metadata":[1,{"managedFields":[]}]}`, `{"metadata":{"managedFields":[`,
		`{"kind":"Status","metadata":{},"status":"Success"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var before map[string]any
		if json.Unmarshal([]byte(text), &before) != nil {
			return
		}
		if metadata, ok := before["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
		}
		rest, _ := cutManagedFields([]byte(text))
		var after map[string]any
		if err := json.Unmarshal(rest, &after); err != nil {
			t.Fatalf("%s\nis cut to what is not JSON: %v", text, err)
		}
		if metadata, ok := after["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields") // written twice, or with escapes
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s\nsays something else now: %s", text, diff)
		}
	})
}

// What the API server sends is cut indeed.
func TestCutManagedFieldsCuts(t *testing.T) {
	rest, managed := cutManagedFields([]byte(`{"kind":"A","metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:a":{}}}]},"data":{}}`))
	if want := `{"kind":"A","metadata":{"name":"a"},"data":{}}`; string(rest) != want {
		t.Errorf("what is left is %s, want %s", rest, want)
	}
	if want := `[{"fieldsV1":{"f:a":{}}}]`; string(managed) != want {
		t.Errorf("what is cut is %s, want %s", managed, want)
	}
}
