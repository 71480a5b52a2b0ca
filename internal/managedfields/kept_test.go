package managedfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// What another manager owns stays: fields, items by their key and by their value. What the document has, counts.
func TestKeep(t *testing.T) {
	live := objecttest.Parse(t, `{"kind":"Service","metadata":{"labels":{"a":"1","b":"2"},"finalizers":["x.io/y","x.io/z"],"managedFields":[
		{"manager":"broken","operation":"Apply","fieldsV1":"?"},
		{"manager":"status","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}},
		{"manager":"other","operation":"Apply","fieldsV1":{
			"f:metadata":{"f:labels":{".":{},"f:b":{}},"f:finalizers":{"v:\"x.io/y\"":{}}},
			"f:spec":{"f:type":{},"f:selector":{},"f:absent":{"f:too":{}},
				"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}},"k:{\"port\":81,\"protocol\":\"TCP\"}":{"f:name":{}},"k:{\"port\":82,\"protocol\":\"TCP\"}":{"f:name":{}},"k:{\"port\":9,\"protocol\":\"UDP\"}":{".":{}}}}}}]},
		"spec":{"selector":{"app":"web"},"type":"NodePort","ports":[{"port":80,"name":"http","targetPort":8080},{"port":81,"name":"more"},{"port":82,"name":"less"},{"port":9,"protocol":"TCP"}]},
		"status":{"a":"b"}}`)
	doc := objecttest.Parse(t, `{"kind":"Service","spec":{"type":"ClusterIP","ports":[{"port":81}]}}`)
	want := objecttest.Parse(t, `{"kind":"Service","metadata":{"labels":{"b":"2"},"finalizers":["x.io/y"]},
		"spec":{"selector":{"app":"web"},"type":"ClusterIP","ports":[{"port":81,"name":"more"},{"port":80,"name":"http"}]}}`)
	before, entries := doc.DeepCopy(), live.GetManagedFields()
	if diff := cmp.Diff(want, Keep(doc, live, entries)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, doc); diff != "" {
		t.Errorf("the document has changed:\n%s", diff)
	}
	if Keep(doc, live, entries[:2]) != doc {
		t.Error("a document is copied although nobody else owns anything")
	}
}
