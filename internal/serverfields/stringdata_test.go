package serverfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
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
		"what is no map, too": {
			"{apiVersion: v1, kind: Secret, stringData: [x]}",
			"{apiVersion: v1, kind: Secret, stringData: [x]}",
		},
		"so does data that is no map": {
			"{apiVersion: v1, kind: Secret, data: x, stringData: {a: b}}",
			"{apiVersion: v1, kind: Secret, data: x, stringData: {a: b}}",
		},
		"nothing is no text": {
			"{apiVersion: v1, kind: Secret, stringData: null}",
			"{apiVersion: v1, kind: Secret}",
		},
		"other kinds may have such a field": {
			"{apiVersion: example.com/v1, kind: Secret, stringData: {a: x}}",
			"{apiVersion: example.com/v1, kind: Secret, stringData: {a: x}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			doc := objecttest.Parse(t, c.doc)
			if diff := cmp.Diff(objecttest.Parse(t, c.want).Object, WithoutStringData(doc).Object); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(objecttest.Parse(t, c.doc).Object, doc.Object); diff != "" {
				t.Errorf("the document was changed:\n%s", diff)
			}
		})
	}
}
