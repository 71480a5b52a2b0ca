package values

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Each case is a tree, values and what must stand in the error ("" for none).
func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		why, schema, values string
		want                []string
	}{
		{"no finding", `{"type":"object","required":["a"]}`, "a: 1", nil},
		{
			"path and reason", `{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, "a: {b: 1}",
			[]string{"values of chart root", "/a/b", "got number, want string"},
		},
		{"all findings", `{"properties":{"a":{"type":"string"},"b":{"maximum":1}}}`, "{a: 1, b: 2}", []string{"/a", "/b"}},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"maximum":1,"exclusiveMaximum":true}}}`, "a: 1", []string{"/a"}},
		{"draft 6", `{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"exclusiveMaximum":1}}}`, "a: 1", []string{"/a"}},
		{"draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","if":{"required":["a"]},"then":{"required":["b"]}}`, "a: 1", []string{"'b'"}},
		{"draft 2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"a":["b"]}}`, "a: 1", []string{"'b'"}},
		{"draft 2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, "a: [1]", []string{"/a/0"}},
		{"a reference into the schema", `{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/s"}}}`, "a: 1", []string{"/a"}},
		{"by Helm's URL of it", `{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"file:///values.schema.json#/$defs/s"}}}`, "a: 1", []string{"/a", "want string"}},
		{"by its name", `{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"values.schema.json#/$defs/s"}}}`, "a: 1", []string{"/a", "want string"}},
		{"a schema that refers to itself", `{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, "a: {a: {b: 1}}", []string{"/a/a"}},
		{"an endless reference", `{"$ref":"#"}`, "a: 1", []string{"values of chart root"}},
		{"http", `{"$ref":"http://127.0.0.1:9/x.json"}`, "a: 1", []string{"values.schema.json refers to"}},
		{"https", `{"$ref":"https://127.0.0.1:9/x.json"}`, "a: 1", []string{"values.schema.json refers to"}},
		{"file", `{"$ref":"file:///etc/passwd"}`, "a: 1", []string{"values.schema.json refers to"}},
		{"an endless device", `{"$ref":"file:///dev/zero"}`, "a: 1", []string{"values.schema.json refers to"}},
		{"a relative file", `{"$ref":"other.json"}`, "a: 1", []string{"values.schema.json refers to"}},
		{"an absolute path", `{"$ref":"/dev/zero"}`, "a: 1", []string{"values.schema.json refers to"}},
		{"an unknown dialect", `{"$schema":"http://127.0.0.1:9/meta"}`, "a: 1", []string{`refers to "http://127.0.0.1:9/meta" ($ref or $schema)`}},
		{"an empty one", `{"$schema":""}`, "a: 1", []string{`refers to "" ($ref or $schema)`}},
		{"urn allows anything, as in Helm 4.3.1", `{"$ref":"urn:example:x"}`, "a: 1", nil},
		{"no JSON", `{`, "a: 1", []string{"parse values.schema.json"}},
		{"an empty file, as in Helm 3 and 4", "", "a: 1", []string{"values.schema.json is empty"}},
		{"a blank file", " \n", "a: 1", []string{"values.schema.json is empty"}},
		{"null", "null", "a: 1", []string{"got null, want boolean or object"}},
		{"no schema", `{"type":"nonsense"}`, "a: 1", []string{"values.schema.json"}},
		{"whole numbers of --set are numbers", `{"properties":{"a":{"type":"integer"}}}`, "a: 1", nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			c := parseTree(t, "root", &txtar.Archive{Files: []txtar.File{{Name: "root/values.schema.json", Data: []byte(tc.schema)}}})
			err := Validate(c, parseTable(t, []byte(tc.values)))
			if tc.want == nil && err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
		})
	}
}

// The findings are in the same order every time, although the library ranges over maps.
func TestFindingsAreInOrder(t *testing.T) {
	schema := `{"properties":{"a":{"type":"string"},"b":{"properties":{"c":{"type":"string"},"d":{"type":"string"}}},"e":{"type":"string"}},"additionalProperties":false}`
	c := parseTree(t, "root", &txtar.Archive{Files: []txtar.File{{Name: "root/values.schema.json", Data: []byte(schema)}}})
	const want = "values of chart root: they do not fit values.schema.json:\n" +
		"- at '': additional properties 'u', 'v', 'w' not allowed\n" +
		"- at '/a': got number, want string\n" +
		"- at '/b': validation failed\n  - at '/b/c': got number, want string\n  - at '/b/d': got number, want string\n" +
		"- at '/e': got number, want string"
	for range 50 {
		err := Validate(c, parseTable(t, []byte("{a: 1, b: {c: 1, d: 1}, e: 1, w: 1, v: 1, u: 1}")))
		if err == nil || err.Error() != want {
			t.Fatalf("%v\nwant %s", err, want)
		}
	}
}

// Every subchart with values is checked, and all findings come in one error.
func TestValidateSubcharts(t *testing.T) {
	c := parseTree(t, "root", txtar.Parse([]byte(`
-- root/values.schema.json --
{"required":["x"]}
-- root/charts/a/values.schema.json --
{"required":["y"]}
-- root/charts/b/values.schema.json --
{"required":["z"]}
-- root/charts/c/values.yaml --
`)))
	err := Validate(c, map[string]any{"a": map[string]any{}, "c": "text"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"values of chart root:", "'x'", "values of chart root/charts/a:", "'y'", "values of chart root/charts/c: they must be a table"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "'z'") {
		t.Errorf("subchart b has no values and was checked: %v", err)
	}
}
