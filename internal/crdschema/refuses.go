package crdschema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Refuses returns why a definition does not allow a custom resource: a field is missing, of another
// type, or none of the values that are listed. It returns nil if nothing is found, which does not mean
// that the API server will accept the object: whether its version is served, limits, patterns, formats,
// combined schemas and rules are not checked.
//
// Like the API server, it does not miss a required field that has a default, and takes a null for a
// missing field where null is not allowed
// (https://github.com/kubernetes/apiextensions-apiserver/blob/v0.36.3/pkg/apiserver/schema/defaulting).
// In a server-side apply such a null is refused, since only what is decoded as a whole object loses it.
func Refuses(definition, object *unstructured.Unstructured, serverSide bool) []string {
	_, name, _ := strings.Cut(object.GetAPIVersion(), "/")
	spec, _ := definition.Object["spec"].(map[string]any)
	schema := schemaOf(byName(spec["versions"])[name])
	c := check{serverSide: serverSide}
	c.value("", schema, object.Object)
	slices.Sort(c.found)
	return c.found
}

// Refusal returns what Refuses returns as one text, the first few of many reasons; "" if there are none.
func Refusal(definition, object *unstructured.Unstructured, serverSide bool) string {
	const most = 3
	found := Refuses(definition, object, serverSide)
	text := strings.Join(found[:min(len(found), most)], ", ")
	if len(found) > most {
		text += fmt.Sprintf(" and %d more", len(found)-most)
	}
	return text
}

// check collects why an object is refused.
type check struct {
	serverSide bool
	found      []string
}

func (c *check) add(path, format string, args ...any) {
	c.found = append(c.found, path+" "+fmt.Sprintf(format, args...))
}

func (c *check) value(path string, schema map[string]any, v any) {
	if v == nil {
		if c.serverSide && schema["type"] != nil && schema["nullable"] != true && schema["default"] == nil {
			c.add(path, "must not be null")
		}
		return
	}
	if want, ok := schema["type"].(string); ok && !isOf(want, v) {
		c.add(path, "must be of type %s", want)
		return
	}
	if list, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool {
		return reflect.DeepEqual(jsontree.Canonical(e), jsontree.Canonical(v))
	}) {
		c.add(path, "must be %s", oneOf(list))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range required(schema) {
			c.present(path, key, schema, v)
		}
		c.fields(path, schema, v)
	case []any:
		for i, item := range v {
			c.value(fmt.Sprintf("%s[%d]", path, i), object(schema["items"]), item)
		}
	}
}

// fields checks the fields that a schema describes.
func (c *check) fields(path string, schema, v map[string]any) {
	properties := object(schema["properties"])
	for key, value := range v {
		below := object(properties[key])
		if _, described := properties[key]; !described {
			below = object(schema["additionalProperties"])
		}
		c.value(jsontree.Join(path, key), below, value)
	}
}

// present checks that a required field is there, or will be by its default.
func (c *check) present(path, key string, schema, v map[string]any) {
	field := object(object(schema["properties"])[key])
	value, there := v[key]
	_, filledIn := field["default"]
	if there && (value != nil || field["nullable"] == true || c.serverSide) || filledIn {
		return
	}
	c.add(jsontree.Join(path, key), "is required")
}

func required(schema map[string]any) []string {
	list, _ := schema["required"].([]any)
	var keys []string
	for _, item := range list {
		if key, ok := item.(string); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// isOf reports whether a value has a type of a schema; types that are unknown have any value.
func isOf(want string, v any) bool {
	switch v := jsontree.Number(v).(type) {
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case int64:
		return want == "integer" || want == "number"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	}
	return true
}

// oneOf lists the values of an enum, the first few of a long one.
func oneOf(list []any) string {
	const most = 5
	var texts []string
	for _, e := range list[:min(len(list), most)] {
		texts = append(texts, fmt.Sprint(e))
	}
	switch {
	case len(list) > most:
		return fmt.Sprintf("one of %s and %d more", strings.Join(texts, ", "), len(list)-most)
	case len(list) == 1:
		return texts[0]
	}
	return "one of " + strings.Join(texts, ", ")
}
