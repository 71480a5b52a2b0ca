package values

import (
	"errors"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var errSchemaSteps = errors.New("checking the values takes too long: do parts of the schema refer to one another many times over?")

// schemaSteps stops a validation that takes too long: subschemas that refer to each other twice
// double the work each time. It panics, since the library gives no other way to stop.
type schemaSteps struct{ left int }

// countSteps adds a counter to a compiled schema and everything that it refers to.
func countSteps(compiled *jsonschema.Schema) {
	(&stepCounter{steps: &schemaSteps{maxSchemaSteps}, seen: map[*jsonschema.Schema]bool{}}).schema(compiled)
}

type stepCounter struct {
	steps *schemaSteps
	seen  map[*jsonschema.Schema]bool
}

func (c *stepCounter) schema(s *jsonschema.Schema) {
	if s == nil || c.seen[s] {
		return
	}
	c.seen[s] = true
	s.Extensions = append(s.Extensions, counted{c.steps, s})
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		if fields.Type().Field(i).IsExported() {
			c.field(fields.Field(i))
		}
	}
}

// field looks for schemas in a field of a schema: a schema, a list or table of schemas, or any
// value.
func (c *stepCounter) field(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		c.field(v.Elem())
	case reflect.Pointer:
		switch p := v.Interface().(type) {
		case *jsonschema.Schema:
			c.schema(p)
		case *jsonschema.DynamicRef:
			if p != nil {
				c.schema(p.Ref)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.field(v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			c.field(it.Value())
		}
	}
}

// counted is the counter of one schema. Each check of a value against the schema counts as one
// step, plus the work of the check outside its subschemas.
type counted struct {
	steps  *schemaSteps
	schema *jsonschema.Schema
}

// Validate implements jsonschema.SchemaExt.
func (c counted) Validate(_ *jsonschema.ValidatorContext, v any) {
	cost := 1
	switch v := v.(type) {
	case string:
		if c.schema.Pattern != nil {
			cost += len(v) * len(c.schema.Pattern.String()) / 64
		}
	case map[string]any:
		cost += len(v) * (1 + len(c.schema.PatternProperties))
	case []any:
		cost += len(v)
	}
	if c.steps.left -= cost; c.steps.left < 0 {
		panic(errSchemaSteps) //nolint:forbidigo // the library gives no other way out; validateOne recovers
	}
}

// pairs counts the pairs of items in all lists of a document.
func pairs(doc any) int {
	n := 0
	switch v := doc.(type) {
	case []any:
		n = len(v) * len(v)
		for _, e := range v {
			n += pairs(e)
		}
	case map[string]any:
		for _, e := range v {
			n += pairs(e)
		}
	}
	return n
}

// enumerated counts the values in a schema's enums. The library compares a value with each of them,
// which schemaSteps does not count.
func enumerated(doc any) int {
	n := 0
	switch v := doc.(type) {
	case []any:
		for _, e := range v {
			n += enumerated(e)
		}
	case map[string]any:
		for k, e := range v {
			if list, ok := e.([]any); ok && k == "enum" {
				n += len(list)
			}
			n += enumerated(e)
		}
	}
	return n
}
