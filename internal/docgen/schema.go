package main

import (
	"bytes"
	"encoding/json"

	"github.com/invopop/jsonschema"

	"github.com/kubectl-release/kubectl-release/plan"
)

// planSchema is the JSON schema of what -o json prints, from the Go types.
func planSchema() ([]byte, error) {
	reflector := jsonschema.Reflector{
		// Minor versions of the format only add: readers have to bear new fields.
		AllowAdditionalProperties: true,
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
