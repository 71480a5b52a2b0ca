package main

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// pages is the URL under which the schemas are published.
const pages = "https://github.com/kubectl-release/kubectl-release/blob/main/docs/"

// planSchema returns the JSON schema of the plan that -o json prints, derived
// from the Go types.
func planSchema() ([]byte, error) {
	schema := reflector().Reflect(&plan.Document{})
	schema.ID = pages + "plan.schema.json"
	schema.Title = "A plan of kubectl release, format " + plan.FormatVersion
	return indented(schema)
}

// setSchema returns the JSON schema of what plan many -o json prints, derived from the Go types. It
// refers to the plan's schema for what the two have in common.
func setSchema() ([]byte, error) {
	r := reflector()
	r.Lookup = func(t reflect.Type) jsonschema.ID {
		switch t {
		case reflect.TypeFor[plan.Document]():
			return "plan.schema.json"
		case reflect.TypeFor[plan.Summary](), reflect.TypeFor[release.Key]():
			return jsonschema.ID("plan.schema.json#/$defs/" + t.Name())
		}
		return ""
	}
	r.Mapper = func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[releaseset.Key]() {
			return &jsonschema.Schema{Type: "string"}
		}
		return nil
	}
	schema := r.Reflect(&releaseset.Document{})
	schema.ID = pages + "set.schema.json"
	schema.Title = "The plan of a set of kubectl release, format " + releaseset.FormatVersion
	return indented(schema)
}

func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{
		// Minor versions of the format only add fields, so readers must accept unknown ones.
		AllowAdditionalProperties: true,
		// A Policy is both a string type of hooks and a struct of the plan: string types get their
		// package's name.
		Namer: func(t reflect.Type) string {
			if t.Kind() == reflect.String {
				return t.String()
			}
			return ""
		},
		// Objects of the cluster are printed as they are, whatever they hold.
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t == reflect.TypeFor[unstructured.Unstructured]() {
				return &jsonschema.Schema{Type: "object"}
			}
			return nil
		},
	}
}

func indented(schema *jsonschema.Schema) ([]byte, error) {
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
