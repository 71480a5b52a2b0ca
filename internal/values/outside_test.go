package values

import (
	"testing"

	"golang.org/x/tools/txtar"
)

// What a schema refers to outside of itself is not loaded and allows anything: a warning names it, and the
// rest of the schema counts.
func TestSchemasThatReferToOtherDocuments(t *testing.T) {
	for _, c := range []struct {
		schema, values string
		refused        bool
		asked          string
	}{
		{`{"$ref":"https://example.com/x.json"}`, "a: 1", false, "https://example.com/x.json"},
		{`{"properties":{"a":{"$ref":"https://example.com/x.json#/$defs/port"}}}`, "a: 1", false, "https://example.com/x.json"},
		{`{"properties":{"a":{"$ref":"parts/x.json#/a~1b/c%20d"}}}`, "a: 1", false, "file:///parts/x.json"},
		{`{"$id":"https://example.com/values.schema.json","properties":{"a":{"$ref":"pod.json#/options"}}}`, "a: 1", false, "https://example.com/pod.json"},
		{`{"properties":{"b":{"$ref":"https://example.com/y.json"},"a":{"$ref":"https://example.com/x.json"},"c":{"$ref":"https://example.com/x.json#/c"}}}`, "a: 1", false, "https://example.com/x.json and 1 more"},
		{`{"properties":{"a":{"$ref":"https://example.com/x.json#/b"},"c":{"type":"string"}}}`, "{a: 1, c: 1}", true, "https://example.com/x.json"},
		{`{"$defs":{"b":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/b"}}}`, "a: 1", true, ""},
	} {
		tree := parseTree(t, "root", &txtar.Archive{Files: []txtar.File{{Name: "root/values.schema.json", Data: []byte(c.schema)}}})
		warnings, err := Validate(tree, parseTable(t, []byte(c.values)))
		want := ""
		if c.asked != "" {
			want = "root/values.schema.json: values are not checked against " + c.asked + ", to which it refers: nothing is loaded from there"
		}
		got := ""
		for _, w := range warnings {
			got += w.String()
		}
		if (err != nil) != c.refused || got != want {
			t.Errorf("%s: %v, %q, want %q", c.schema, err, got, want)
		}
	}
}
