package crdschema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// What a definition would tighten or drop is found; descriptions, and what the
// API server has filled in, are not a difference.
func TestDefinitionsAreComparedByWhatTheyMean(t *testing.T) {
	const base = `{type: object, properties: {spec: {type: object, required: [a], properties: {
  a: {type: string, description: old, enum: [x, y], maxLength: 9},
  b: {type: array, items: {type: object, properties: {c: {type: integer, minimum: 1}}}},
  m: {type: object, additionalProperties: {type: string}},
  open: {type: object, x-kubernetes-preserve-unknown-fields: true},
  q: {type: string, nullable: true}}}}}`
	for name, c := range map[string]struct {
		schema string
		want   Difference
	}{
		"the same":                       {base, Difference{}},
		"what the API server leaves out": {replaced(base, "q: {type: string", "q: {type: string, x-unknown: 1, uniqueItems: false, required: []"), Difference{}},
		"another description":            {replaced(base, "old", "new"), Difference{}},
		"a field more":                   {replaced(base, "q: {", "more: {type: string}, q: {"), Difference{Fields: 1}},
		"a field less":                   {replaced(base, "properties: {c: {type: integer, minimum: 1}}", "properties: {}"), Difference{Fields: 1, Drops: []string{"v1 spec.b[].c"}}},
		"a field that is required":       {replaced(base, "[a]", "[a, b]"), Difference{Fields: 1, Tightens: []string{"v1 spec"}}},
		"a field that may be left out":   {replaced(base, "[a]", "[]"), Difference{Fields: 1}},
		"fewer values":                   {replaced(base, "[x, y]", "[x]"), Difference{Fields: 1, Tightens: []string{"v1 spec.a"}}},
		"more values":                    {replaced(base, "[x, y]", "[x, y, z]"), Difference{Fields: 1}},
		"a nearer limit":                 {replaced(base, "maxLength: 9", "maxLength: 8"), Difference{Fields: 1, Tightens: []string{"v1 spec.a"}}},
		"a further limit":                {replaced(base, "minimum: 1", "minimum: 0"), Difference{Fields: 1}},
		"a new limit":                    {replaced(base, "q: {type: string", "q: {type: string, maxLength: 3"), Difference{Fields: 1, Tightens: []string{"v1 spec.q"}}},
		"a pattern":                      {replaced(base, "q: {type: string", "q: {type: string, pattern: ^a"), Difference{Fields: 1, Tightens: []string{"v1 spec.q"}}},
		"null is no longer a value":      {replaced(base, "nullable: true", "nullable: false"), Difference{Fields: 1, Tightens: []string{"v1 spec.q"}}},
		"another type":                   {replaced(base, "type: integer, minimum: 1", "type: string"), Difference{Fields: 1, Tightens: []string{"v1 spec.b[].c"}}},
		"a rule more":                    {replaced(base, "m: {type: object", "m: {type: object, x-kubernetes-validations: [{rule: self.a}]"), Difference{Fields: 1, Tightens: []string{"v1 spec.m"}}},
		"unknown fields are pruned":      {replaced(base, ", x-kubernetes-preserve-unknown-fields: true", ""), Difference{Fields: 1, Drops: []string{"v1 spec.open"}}},
		"values of a map are limited":    {replaced(base, "additionalProperties: {type: string}", "additionalProperties: {type: string, maxLength: 3}"), Difference{Fields: 1, Tightens: []string{"v1 spec.m{}"}}},
		"a list without doubles":         {replaced(base, "b: {type: array", "b: {type: array, x-kubernetes-list-type: set"), Difference{Fields: 1, Tightens: []string{"v1 spec.b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			live := definition(t, base, "true")
			// filled in by the API server
			_ = unstructured.SetNestedField(live.Object, "None", "spec", "conversion", "strategy")
			_ = unstructured.SetNestedField(live.Object, "WidgetList", "spec", "names", "listKind")
			_ = unstructured.SetNestedField(live.Object, false, "spec", "preserveUnknownFields")
			if diff := cmp.Diff(c.want, Compare(live, definition(t, c.schema, "true"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Columns and short names change only how custom resources are listed.
func TestDisplayOfCustomResources(t *testing.T) {
	to := definition(t, "{type: object}", "true")
	_ = unstructured.SetNestedStringSlice(to.Object, []string{"wd"}, "spec", "names", "shortNames")
	versions, _, _ := unstructured.NestedSlice(to.Object, "spec", "versions")
	versions[0].(map[string]any)["additionalPrinterColumns"] = []any{map[string]any{"name": "Color", "type": "string", "jsonPath": ".spec.color"}}
	_ = unstructured.SetNestedSlice(to.Object, versions, "spec", "versions")
	got := Compare(definition(t, "{type: object}", "true"), to)
	if diff := cmp.Diff(Difference{Fields: 2, Display: 2}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A version that is no longer served counts as dropped, whatever its schema is.
func TestVersionsThatGoAreDropped(t *testing.T) {
	got := Compare(definition(t, "{type: object}", "true"), definition(t, "{type: object}", "false"))
	if diff := cmp.Diff(Difference{Fields: 1, Drops: []string{"v1"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func definition(t *testing.T, schema, served string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.x.io}, spec: {
  group: x.io, scope: Namespaced, names: {kind: Widget, plural: widgets},
  versions: [{name: v1, served: ` + served + `, storage: true, schema: {openAPIV3Schema: ` + schema + `}}]}}`
	if err := yaml.UnmarshalStrict([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// replaced replaces from by to. It panics if that changes nothing, which would be a mistake in the test.
func replaced(s, from, to string) string {
	out := strings.Replace(s, from, to, 1)
	if out == s {
		panic(from + " is not in the schema")
	}
	return out
}

// The certificate of a conversion webhook is filled in by others, and is not a difference.
func TestCertificatesOfWebhooksAreNoDifference(t *testing.T) {
	live, target := definition(t, "{type: object}", "true"), definition(t, "{type: object}", "true")
	for _, u := range []*unstructured.Unstructured{live, target} {
		_ = unstructured.SetNestedField(u.Object, "web", "spec", "conversion", "webhook", "clientConfig", "service", "name")
	}
	_ = unstructured.SetNestedField(live.Object, "Q0E=", "spec", "conversion", "webhook", "clientConfig", "caBundle")
	if diff := cmp.Diff(Difference{}, Compare(live, target)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_ = unstructured.SetNestedField(live.Object, "other", "spec", "conversion", "webhook", "clientConfig", "service", "name")
	if got := Compare(live, target); got.Fields != 1 {
		t.Errorf("another service is %d fields", got.Fields)
	}
}

// Nor is it part of what was sent, and the definition from which it is left out keeps it.
func TestCertificatesOfWebhooksWereNotSent(t *testing.T) {
	live := definition(t, "{type: object}", "true")
	path := []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}
	_ = unstructured.SetNestedField(live.Object, "Q0E=", path...)
	sent := map[string]any{"spec": WithoutDefaults(live.Object["spec"])}
	if _, found, _ := unstructured.NestedString(sent, path...); found {
		t.Error("the CA bundle counts as sent")
	}
	if _, found, _ := unstructured.NestedString(live.Object, path...); !found {
		t.Error("the live definition has lost its CA bundle")
	}
}
