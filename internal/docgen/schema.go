package main

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/plan"
)

// planSchema is the JSON schema of what -o json prints, from the Go types.
func planSchema() ([]byte, error) {
	reflector := jsonschema.Reflector{
		// Minor versions of the format only add: readers have to bear new fields.
		AllowAdditionalProperties: true,
		// Objects of the cluster print as they are, whatever they hold.
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t == reflect.TypeFor[unstructured.Unstructured]() {
				return &jsonschema.Schema{Type: "object"}
			}
			return nil
		},
	}
	schema := reflector.Reflect(&plan.Plan{})
	schema.ID = "https://github.com/kubectl-release/kubectl-release/blob/main/docs/plan.schema.json"
	schema.Title = "A plan of kubectl release, format " + plan.FormatVersion
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
