package composition

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// of composes inline values and valuesFrom whose contents are their keys.
func of(inline string, refs ...flux.ValuesReference) (*Composed, error) {
	hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: "apps", Name: "web"}}
	hr.Spec.Values, hr.Spec.ValuesFrom = json.RawMessage(inline), refs
	return Compose(hr, func(r flux.ValuesReference) ([]byte, Found) { return []byte(r.ValuesKey), Known })
}

func at(path, content string) flux.ValuesReference {
	return flux.ValuesReference{Kind: "ConfigMap", Name: "texts", ValuesKey: content, TargetPath: path}
}

// The grammar of targetPath and of what is set there (FLUX.md §3): Helm's --set, types inferred from
// the content, and literal content as it is.
func TestTargetPathForms(t *testing.T) {
	for _, c := range []struct{ path, content, want string }{
		{"a", "7", `{"a": 7}`},
		{"a", "-7", `{"a": -7}`},
		{"a", "0", `{"a": 0}`},
		{"a", "007", `{"a": "007"}`},
		{"a", "1.50", `{"a": "1.50"}`},
		{"a", "1e3", `{"a": "1e3"}`},
		{"a", "true", `{"a": true}`},
		{"a", "True", `{"a": true}`},
		{"a", "null", `{"a": null}`},
		{"a", "7\n", `{"a": "7\n"}`},
		{"a", "'7'", `{"a": "7"}`},
		{"a", `"true"`, `{"a": "true"}`},
		{"a", "'7'\n", `{"a": "'7'\n"}`},
		{"a", "x=y", `{"a": "x=y"}`},
		{"a", `x\,y`, `{"a": "x,y"}`},
		{"a", "{x: 1}", `{"a": ["x: 1"]}`},
		{"a", "{}", `{"a": [""]}`},
		{"a", "{1,x,true}", `{"a": [1, "x", true]}`},
		{"a.b.c", "x", `{"a": {"b": {"c": "x"}}}`},
		{`a.b\.c/d`, "x", `{"a": {"b.c/d": "x"}}`},
		{"a[0].b", "x", `{"a": [{"b": "x"}]}`},
		{"a[0][1]", "x", `{"a": [[null, "x"]]}`},
	} {
		got, err := of("{}", at(c.path, c.content))
		if err != nil || !sameJSON(t, got.Values, c.want) {
			t.Errorf("%s = %q: %v %v, want %s", c.path, c.content, got, err, c.want)
		}
	}
	for _, refused := range []struct{ path, content string }{{"a", "x,y"}, {"a[x]", "x"}, {"a[-1]", "x"}, {"a[65537]", "x"}, {"a", "{x"}} {
		if got, err := of("{}", at(refused.path, refused.content)); err == nil {
			t.Errorf("%s = %q: %v", refused.path, refused.content, got.Values)
		}
	}
}

// Literal content is text, whatever is in it; only the path has a grammar.
func TestLiteralContent(t *testing.T) {
	for _, content := range []string{"", "7", "null", "a,b", "{a,b}", "[0]", `c:\new`, `\`, `a\,b`, "'x'", "x=y,z=1", "one\ntwo\n", "{{ .Values.a }}", " x "} {
		ref := at(`a.b\.c`, content)
		ref.Literal = true
		want, err := json.Marshal(map[string]any{"a": map[string]any{"b.c": content}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := of("{}", ref); err != nil || !sameJSON(t, got.Values, string(want)) {
			t.Errorf("%q: %v %v", content, got, err)
		}
	}
}

// Where targetPath and inline values meet [04]: at the top level, nested, and in lists, as the first
// entry and after another one; which one wins is reported if the entry does not.
func TestTargetPathBesideInlineValues(t *testing.T) {
	const nested, list = `{"a": {"b": "inline", "c": 1}}`, `{"a": [{"b": "inline"}, {"b": "inline"}]}`
	for _, c := range []struct {
		why, inline string
		refs        []flux.ValuesReference
		want, lost  string
	}{
		{"top level", `{"a": "inline"}`, []flux.ValuesReference{at("a", "x")}, `{"a": "inline"}`, "targetPath a has no effect, spec.values sets it"},
		{"a table over a text", `{"a": "inline"}`, []flux.ValuesReference{at("x", "1"), at("a", "x")}, `{"a": "inline", "x": 1}`, "targetPath a has no effect"},
		{"the first, nested", nested, []flux.ValuesReference{at("a.b", "x")}, `{"a": {"b": "x", "c": 1}}`, ""},
		{"the second, nested", nested, []flux.ValuesReference{at("y", "1"), at("a.b", "x")}, `{"a": {"b": "inline", "c": 1}, "y": 1}`, "spec.valuesFrom[1]: targetPath a.b has no effect"},
		{"the second, beside", nested, []flux.ValuesReference{at("y", "1"), at("a.d", "x")}, `{"a": {"b": "inline", "c": 1, "d": "x"}, "y": 1}`, ""},
		{"the first, an item of a list", list, []flux.ValuesReference{at("a[1].b", "x")}, `{"a": [{"b": "inline"}, {"b": "x"}]}`, ""},
		{"the second, an item of a list", list, []flux.ValuesReference{at("y", "1"), at("a[1].b", "x")}, `{"a": [{"b": "inline"}, {"b": "x"}], "y": 1}`, ""},
		{"null over inline", nested, []flux.ValuesReference{at("a.b", "null")}, `{"a": {"b": null, "c": 1}}`, ""},
		{"two of one path", "{}", []flux.ValuesReference{at("a", "x"), at("a", "y")}, `{"a": "y"}`, "spec.valuesFrom[0]: targetPath a has no effect, a later entry"},
	} {
		got, err := of(c.inline, c.refs...)
		if err != nil || !sameJSON(t, got.Values, c.want) {
			t.Errorf("%s: %v %v, want %s", c.why, got, err, c.want)
			continue
		}
		told := strings.Join(got.Notes, "; ")
		if (told == "") != (c.lost == "") || !strings.Contains(told, c.lost) {
			t.Errorf("%s: %q, want %q", c.why, told, c.lost)
		}
	}
}
