package cluster

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cutting a page into items gives the same as decoding it, also if it can't be cut.
func TestReadPage(t *testing.T) {
	for _, text := range []string{
		`{"kind":"List","metadata":{"resourceVersion":"1","continue":"a\"]"},"items":[{"a":[1,{"b":"]}"}]},{"metadata":{"name":"x"}}]}`,
		"{ \"items\" : [ { } ,\n {\"items\":[1]} ] , \"metadata\" : {} }\n",
		`{"metadata":{},"items":[]}`, `{"metadata":{},"items":null}`, `{"items":[{}]}`, `{"metadata":{}}`,
		`{"metadata":{},"items":[{}`, `{"metadata":{},"items":[{}]`, `{"items":[{}],"metadata":{"continue":"b"}`, `{"items":[{}],"metadata":{"continue":"b"},"x":"y"}`, `{"metadata":{"continue":1},"items":[{}]}`, ``, `[]`,
	} {
		var want listPage
		wantErr := json.Unmarshal([]byte(text), &want)
		got, err := readPage([]byte(text))
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%s: error %v, want %v", text, err, wantErr)
			continue
		}
		if diff := cmp.Diff(texts(want), texts(got)); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if got.Metadata.Continue != want.Metadata.Continue {
			t.Errorf("%s goes on with %q, want %q", text, got.Metadata.Continue, want.Metadata.Continue)
		}
	}
}

func texts(p listPage) []string {
	out := make([]string, 0, len(p.Items))
	for _, item := range p.Items {
		out = append(out, string(item))
	}
	return out
}

// Equal managed fields of an object and the one before it share memory.
func TestShareFields(t *testing.T) {
	entry := func(fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawBytes([]byte(fields))
		return e
	}
	others, own := []metav1.ManagedFieldsEntry{entry("{}"), entry(`{"f:a":{}}`)}, []metav1.ManagedFieldsEntry{entry("{}"), entry(`{"f:b":{}}`), entry("{}")}
	shareFields(own, others)
	if own[0].FieldsV1 != others[0].FieldsV1 || string(own[1].FieldsV1.GetRawBytes()) != `{"f:b":{}}` || own[2].FieldsV1 == others[0].FieldsV1 {
		t.Errorf("%v shared with %v", own, others)
	}
}
