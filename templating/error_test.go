package templating_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/templating"
)

func tree(files map[string]string) *chart.Chart {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "t", Version: "1.2.3", APIVersion: "v2"}}
	for name, text := range files {
		c.Templates = append(c.Templates, &chart.File{Name: "templates/" + name, Data: []byte(text)})
	}
	return c
}

func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		why  string
		text string
		want string
	}{
		{
			"place, expression and cause in one line", "a\n  b: {{ .Values.no.more }}",
			"t/templates/x.yaml:2:16: {{ .Values.no.more }}: .Values.no is not set (or null), so .more can't be read from it",
		},
		{
			"the chain of callers, the innermost first", "{{ define \"a\" }}{{ fail \"boom\" }}{{ end }}\n{{ define \"b\" }}{{ include \"a\" . }}{{ end }}\n\n{{ template \"b\" . }}",
			"t/templates/x.yaml:1:20: {{ fail \"boom\" }}: boom\n  called from t/templates/x.yaml:2 (include \"a\"), t/templates/x.yaml:4 (template \"b\")",
		},
		{
			"the text of tpl is named by its call", "\n{{ tpl \"\\n{{ upper 1 }}\" . }}",
			"text of tpl at t/templates/x.yaml:2:2:10: {{ 1 }}: 1 can't be used where text is needed\n  called from t/templates/x.yaml:2 (tpl)",
		},
		{
			"a path that goes wrong by a slip, in whatever way it begins", "{{ with .Values }}{{ $v := . }}{{ $v.imgae.tag }}{{ end }}",
			"t/templates/x.yaml:1:37: {{ $v.imgae.tag }}: $v.imgae is not set (or null), so .tag can't be read from it; there is no key \"imgae\"; did you mean \"image\"?",
		},
		{
			"a null is no slip", "{{ .Values.none.tag }}",
			"t/templates/x.yaml:1:11: {{ .Values.none.tag }}: .Values.none is not set (or null), so .tag can't be read from it",
		},
		{
			"a scalar where a table is expected", "{{ .Values.image.name.first }}",
			"t/templates/x.yaml:1:11: {{ .Values.image.name.first }}: .Values.image.name is text, not a map, so .first can't be read from it",
		},
		{
			"a list where a table is expected", "{{ .Values.ports.http }}",
			"t/templates/x.yaml:1:11: {{ .Values.ports.http }}: .Values.ports is a list, not a map, so .http can't be read from it",
		},
		{
			"index says what it was to read from", "{{ index .Values.nope \"a\" }}",
			"t/templates/x.yaml:1:4: {{ index .Values.nope \"a\" }}: index: .Values.nope is not set (or null), so nothing can be read from it",
		},
		{
			"what is piped, not what is beside the function", "{{ .Values.nope | trunc 5 }}",
			"t/templates/x.yaml:1:4: {{ .Values.nope }}: the value is missing (nil) where text is needed",
		},
		{
			"what is piped by the command before", "{{ .Values.ports | first | upper | trunc 5 }}",
			"t/templates/x.yaml:1:20: {{ first }}: text is needed here, but the value is a whole number",
		},
		{
			"what is piped into a method", "{{ .Values.ports | .Files.Get }}",
			"t/templates/x.yaml:1:4: {{ .Values.ports }}: text is needed here, but the value is a list",
		},
		{
			"a list of another kind", `{{ genSignedCert "a" (splitList "," "b") nil 1 .Values }}`,
			`t/templates/x.yaml:1:23: {{ splitList "," "b" }}: a list is needed here, but the value is a list of texts`,
		},
		{
			"the type of the values", `{{ dig "a" "b" .Values }}`,
			`t/templates/x.yaml:1:4: {{ dig "a" "b" .Values }}: dig: interface conversion: interface {} is common.Values, not map[string]interface {}`,
		},
		{
			"a function's own error", "{{ fromJson (mustToJson 1) | index 5 }}",
			"t/templates/x.yaml:1:30: {{ index 5 }}: index: a value of type int can't be indexed",
		},
	} {
		values := map[string]any{"image": map[string]any{"name": "a"}, "none": nil, "ports": []any{1}}
		_, err := templating.Render(tree(map[string]string{"x.yaml": tc.text}), map[string]any{"Values": values}, templating.Options{})
		if err == nil {
			t.Errorf("%s: no error", tc.why)
			continue
		}
		if d := cmp.Diff(tc.want, err.Error()); d != "" {
			t.Errorf("%s: %s", tc.why, d)
		}
	}
}

func TestErrorFields(t *testing.T) {
	_, err := templating.Render(tree(map[string]string{"x.yaml": "\n {{ include \"nme\" . }}", "_p.tpl": "{{ define \"name\" }}{{ end }}"}), nil, templating.Options{})
	var e *templating.Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
	want := &templating.Error{
		File: "t/templates/x.yaml", Line: 2, Column: 5, Expr: `include "nme" .`,
		Message: `there is no template "nme"`, Hint: `did you mean "name"?`,
	}
	if d := cmp.Diff(want, e); d != "" {
		t.Error(d)
	}
}

// A trail of a thousand callers must not become a thousand lines.
func TestLongTrailIsCut(t *testing.T) {
	_, err := templating.Render(tree(map[string]string{"x.yaml": `{{ define "r" }}{{ include "r" . }}{{ end }}{{ include "r" . }}`}), nil, templating.Options{})
	if err == nil || len(err.Error()) > 600 || !strings.Contains(err.Error(), "993 more") {
		t.Errorf("got %v", err)
	}
}

func TestStrict(t *testing.T) {
	_, err := templating.Render(tree(map[string]string{"x.yaml": "{{ .Values.replcas }}"}), map[string]any{"Values": map[string]any{"replicas": 1}}, templating.Options{Strict: true})
	if err == nil || !strings.Contains(err.Error(), `there is no key "replcas"; did you mean "replicas"?`) {
		t.Errorf("a missing key under strict: %v", err)
	}
}

// Lint continues after required and fail and returns their messages as warnings.
func TestLint(t *testing.T) {
	out, err := templating.Render(tree(map[string]string{"x.yaml": `{{ required "set a" .Values.a }}{{ fail "no" }}ok`}), map[string]any{"Values": map[string]any{}}, templating.Options{Lint: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"set a", "no"}, out.Warnings); d != "" || out.Files[0].Content != "ok" {
		t.Errorf("%s %q", d, out.Files[0].Content)
	}
}

func TestLookup(t *testing.T) {
	asked := ""
	answer := func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		asked = strings.Join([]string{apiVersion, kind, namespace, name}, " ")
		if name == "bad" {
			return nil, errors.New("the server is down")
		}
		return map[string]any{"data": map[string]any{"k": "v"}}, nil
	}
	o := templating.Options{Lookup: answer}
	out, err := templating.Render(tree(map[string]string{"x.yaml": `{{ (lookup "v1" "Secret" "ns" "s").data.k }}`}), nil, o)
	if err != nil || out.Files[0].Content != "v" || asked != "v1 Secret ns s" {
		t.Errorf("asked %q, got %v, %v", asked, out.Files, err)
	}
	// A cluster that does not answer must not look like an object that does not exist.
	_, err = templating.Render(tree(map[string]string{"x.yaml": `{{ lookup "v1" "Secret" "ns" "bad" }}`}), nil, o)
	if err == nil || !strings.Contains(err.Error(), "the server is down") {
		t.Errorf("got %v", err)
	}
}

// Notes are kept out of the manifests; those of subcharts are returned only if requested.
func TestNotes(t *testing.T) {
	render := func(subchartNotes bool) templating.Rendered {
		c, sub := tree(map[string]string{"NOTES.txt": "own", "a.yaml": "a"}), tree(map[string]string{"NOTES.txt": "below"})
		sub.Metadata.Name = "sub"
		c.AddDependency(sub)
		out, err := templating.Render(c, nil, templating.Options{SubchartNotes: subchartNotes})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := render(false); out.Notes != "own" || len(out.Files) != 1 {
		t.Errorf("got %+v", out)
	}
	if out := render(true); out.Notes != "own\nbelow" || len(out.Files) != 1 {
		t.Errorf("got %+v", out)
	}
}

// The same render twice gives the same bytes, keys and values of maps included.
func TestDeterministic(t *testing.T) {
	text := `{{ keys .Values }} {{ values .Values }} {{ range $k, $v := .Values }}{{ $k }}{{ end }}`
	values := map[string]any{}
	for _, k := range strings.Split("abcdefghijklmnop", "") {
		values[k] = k
	}
	first := ""
	for range 20 {
		out, err := templating.Render(tree(map[string]string{"x.yaml": text}), map[string]any{"Values": values}, templating.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = out.Files[0].Content
		}
		if d := cmp.Diff(first, out.Files[0].Content); d != "" {
			t.Fatal(d)
		}
	}
}
