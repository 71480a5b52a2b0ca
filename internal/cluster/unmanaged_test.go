package cluster

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// The text without managedFields decodes to the object without them, and
// text that is not an object stays as it is.
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

// The API server's own format is actually cut.
func TestCutManagedFieldsCuts(t *testing.T) {
	rest, managed := cutManagedFields([]byte(`{"kind":"A","metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:a":{}}}]},"data":{}}`))
	if want := `{"kind":"A","metadata":{"name":"a"},"data":{}}`; string(rest) != want {
		t.Errorf("what is left is %s, want %s", rest, want)
	}
	if want := `[{"fieldsV1":{"f:a":{}}}]`; string(managed) != want {
		t.Errorf("what is cut is %s, want %s", managed, want)
	}
}

// Answers are decoded as by client-go's decoder, and refused with the same messages.
func TestAnswersAreDecodedAsByClientGo(t *testing.T) {
	serializer := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	theirs := serializer.DecoderToVersion(serializer.SupportedMediaTypes()[0].Serializer, nil)
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","generation":1},"data":{"a":"\u00e4"},"n":[1,1.5,1e3,9007199254740993,null]}`,
		`{"kind":"A"}`, `{"apiVersion":"v1"}`, `{"kind":1}`, `{"kind":""}`, `{"apiVersion":1,"kind":"A"}`, `{"apiVersion":"a/b/c","kind":"A"}`, `{}`, `null`, `[]`, `"a"`, ``, `{"kind":"A"`,
		`{"kind":"A"} x`, `{"KIND":"A"}`, `{"kind":"A","kind":"B"}`,
		`{"apiVersion":"v1","kind":"Status","status":"Failure","code":404}`, `{"apiVersion":"v1","kind":"List","items":[{"kind":"A"}]}`,
	} {
		want, got := &unstructured.Unstructured{}, &unstructured.Unstructured{}
		_, wantKind, wantErr := theirs.Decode([]byte(text), nil, want)
		_, gotKind, gotErr := unmanagedDecoder{theirs}.Decode([]byte(text), nil, got)
		if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Errorf("%s: error %v, want %v", text, gotErr, wantErr)
		}
		if diff := cmp.Diff(want.Object, got.Object); wantErr == nil && diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if wantErr == nil && *gotKind != *wantKind {
			t.Errorf("%s: kind %s, want %s", text, gotKind, wantKind)
		}
	}
}
