package crdschema

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// What a definition surely does not allow is found, and nothing that the API server would accept: fields
// with a default may be missing, nulls count as missing, and what the schema does not describe is free.
func TestRefuses(t *testing.T) {
	definition := objecttest.Parse(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.x.io}, spec: {
  group: x.io, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, required: [metadata, spec], properties: {
    spec: {type: object, required: [size, mode, note], properties: {
      size: {type: integer}, mode: {type: string, default: fast}, note: {type: string, nullable: true}, level: {type: string, enum: [low, high, a, b, c, d]},
      ratio: {type: number}, active: {type: boolean}, port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]},
      parts: {type: array, items: {type: object, required: [name], properties: {name: {type: string}}}},
      labels: {type: object, additionalProperties: {type: string}}, free: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}`)
	for name, c := range map[string]struct {
		version, spec string
		want          []string
		serverSide    bool
	}{
		"all is well": {version: "v1", spec: `{size: 1, note: x, level: low, ratio: 1, active: true, port: 80, parts: [{name: a}], labels: {a: b}, free: {any: [1]}, unknown: {}}`},
		"other forms": {version: "v1", spec: `{size: 1.0, note: null, ratio: 0.5, port: http, level: null, parts: []}`},
		"missing":     {version: "v1", spec: `{mode: null}`, want: []string{"spec.note is required", "spec.size is required"}},
		"types": {
			version: "v1", spec: `{size: "1", note: 1, ratio: x, active: "true", parts: {}, labels: {a: 1}, free: x}`,
			want: []string{
				"spec.active must be of type boolean", "spec.free must be of type object", "spec.labels.a must be of type string", "spec.note must be of type string",
				"spec.parts must be of type array", "spec.ratio must be of type number", "spec.size must be of type integer",
			},
		},
		"a fraction":                      {version: "v1", spec: `{size: 1.5, note: x}`, want: []string{"spec.size must be of type integer"}},
		"a value that is none":            {version: "v1", spec: `{size: 1, note: x, level: middle}`, want: []string{"spec.level must be one of low, high, a, b, c and 1 more"}},
		"an item":                         {version: "v1", spec: `{size: 1, note: x, parts: [{name: a}, {}]}`, want: []string{"spec.parts[1].name is required"}},
		"a null, server-side":             {version: "v1", spec: `{size: null, mode: null, note: null, level: null, free: {a: null}, unknown: null}`, want: []string{"spec.level must not be null", "spec.size must not be null"}, serverSide: true},
		"no spec":                         {version: "v1", spec: `null`, want: []string{"spec is required"}},
		"a version that it does not have": {version: "v2", spec: `{size: x}`},
	} {
		t.Run(name, func(t *testing.T) {
			object := objecttest.Parse(t, "{apiVersion: x.io/"+c.version+", kind: Widget, metadata: {name: w}, spec: "+c.spec+"}")
			if diff := cmp.Diff(c.want, Refuses(definition, object, c.serverSide)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
