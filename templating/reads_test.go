package templating_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/keyuse"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Which keys of {a: 1, b: {c: 2, d: 3}, l: [{e: 4}]} a template leaves unread.
// Counting too much as read loses a warning; counting too little gives a false one.
func TestReads(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"nothing is read", `x`, "a b l b.c b.d l.e"},
		{"a field", `{{ .Values.a }}`, "b l b.c b.d l.e"},
		{"the truth of a table says nothing of its keys", `{{ if .Values.b }}{{ end }}`, "a l b.c b.d l.e"},
		{"a path", `{{ .Values.b.c }}`, "a l b.d l.e"},
		{"a variable, with and $", `{{ $v := .Values }}{{ with $v.b }}{{ .c }}{{ $.Values.a }}{{ end }}`, "l b.d l.e"},
		{"the argument of an include", `{{ define "f" }}{{ .c }}{{ end }}{{ include "f" .Values.b }}{{ template "f" .Values.b }}`, "a l b.d l.e"},
		{"a table inside the argument of an include", `{{ define "f" }}{{ .x.Values.b.c }}{{ end }}{{ include "f" (dict "x" .) }}`, "a l b.d l.e"},
		{"tpl reads what its text reads", `{{ tpl "{{ .Values.b.c }}" . }}`, "a l b.d l.e"},
		{"range over a table reads its keys, not those below", `{{ range $k, $v := .Values }}{{ end }}`, "b.c b.d l.e"},
		{"range over a list", `{{ range .Values.l }}{{ .e }}{{ end }}`, "a b b.c b.d"},
		{"index, get, dig", `{{ index .Values "b" "c" }}{{ get .Values "a" }}{{ dig "b" "d" "" .Values.AsMap }}`, "l l.e"},
		{"index into a list", `{{ index .Values "l" 0 "e" }}`, "a b b.c b.d"},
		{"index by a number of another type", `{{ index .Values.l (int64 0) "e" }}`, "a b b.c b.d"},
		{"hasKey and pluck ask for a key", `{{ hasKey .Values "a" }}{{ pluck "c" .Values.b }}`, "l b.d l.e"},
		{"toYaml reads all", `{{ toYaml .Values.b }}`, "a l l.e"},
		{"so does printing", `{{ .Values.b }}`, "a l l.e"},
		{"so does any function that is not known better", `{{ .Values.b | quote }}{{ printf "%v" .Values.l }}`, "a"},
		{"toYaml of everything", `{{ toYaml . }}`, ""},
		{"a method of the values", `{{ .Values.YAML }}`, ""},
		{"keys and values read one level", `{{ keys .Values.b }}{{ values .Values.l | len }}`, "error"},
		{"keys read one level", `{{ keys .Values }}`, "b.c b.d l.e"},
		{"default, ternary, dict and list hand on", `{{ (default .Values.b .Values.nope).c }}{{ (ternary .Values.b nil true).d }}{{ (first (list .Values.l)) | len }}`, "a l.e"},
		{"and, or and required hand on", `{{ (required "x" (or .Values.nope .Values.b)).c }}`, "a l b.d l.e"},
		{"what a copy is read for", `{{ $x := deepCopy .Values }}{{ $x.b.c }}{{ (index $x.l 0).e }}`, "a b.d"},
		{"pick and omit are copies of one level", `{{ (omit .Values "a").b.c }}{{ (pick .Values "l" "a").a }}`, "l b.d l.e"},
		{"what a merge is read for", `{{ $x := merge (dict "a" 5) .Values.AsMap }}{{ $x.b.c }}`, "a l b.d l.e"},
		{"a merge of tables in tables", `{{ $x := merge (dict "b" (dict "z" 1)) .Values.AsMap }}{{ $x.b.d }}{{ $x.a }}`, "l b.c l.e"},
		{"the other way round", `{{ $x := mustMergeOverwrite (deepCopy .Values.AsMap) (dict "b" (dict "z" 1)) }}{{ $x.b.d }}`, "a l b.c l.e"},
		{"a merge of the whole scope", `{{ define "f" }}{{ .Values.b.c }}{{ end }}{{ include "f" (merge (dict "x" 1) .) }}`, "a l b.d l.e"},
		{"a table that contains itself ends the render, not the program", `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ has $d (list 1) }}`, "error"},
		{"a key that is set by the template is not read", `{{ $_ := set .Values "a" 2 }}`, "a b l b.c b.d l.e"},
		{"a table of the values put elsewhere is still watched", `{{ $_ := set .Values "q" .Values.b }}{{ .Values.q.c }}`, "a l b.d l.e"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			seen, err := seen(map[string]string{"x.yaml": tc.text})
			if err != nil && tc.want != "error" {
				t.Fatal(err)
			}
			if err == nil && tc.want == "error" {
				t.Fatal("no error")
			}
			if tc.want == "error" {
				return
			}
			if diff := cmp.Diff(tc.want, unread(seen)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// seen renders with the values of TestReads, watching all of their keys.
func seen(files map[string]string) ([]keyuse.Seen, error) {
	item := map[string]any{"e": 4}
	b := map[string]any{"c": 2, "d": 3}
	values := map[string]any{"a": 1, "b": b, "l": []any{item}}
	out, err := templating.Render(tree(files), map[string]any{"Values": values}, templating.Options{Watch: []keyuse.Watched{
		{Tables: []map[string]any{values}, Keys: []string{"a", "b", "l"}},
		{Tables: []map[string]any{b}, Keys: []string{"c", "d"}},
		{Tables: []map[string]any{item}, Keys: []string{"e"}},
	}})
	return out.Seen, err
}

func unread(seen []keyuse.Seen) string {
	var out []string
	for i, prefix := range []string{"", "b.", "l."} {
		for _, key := range seen[i].Unread {
			out = append(out, prefix+key)
		}
	}
	return strings.Join(out, " ")
}

// Keys that are read but missing hint at what a misspelt key should have been; a
// render that fails still reports them.
func TestReadsOfMissingKeys(t *testing.T) {
	seen, err := seen(map[string]string{"x.yaml": `{{ .Values.bb }}{{ required "set cc" .Values.b.cc }}`})
	if err == nil {
		t.Fatal("no error")
	}
	want := []keyuse.Seen{
		{Unread: []string{"a", "l"}, Read: []string{"b", "bb"}},
		{Unread: []string{"c", "d"}, Read: []string{"cc"}},
		{Unread: []string{"e"}, Read: nil},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// A key that a template mentions anywhere does not count as unread by all templates, even
// if this render did not get there.
func TestMentioned(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		want      bool
	}{
		{"a field in a branch not taken", `{{ if false }}{{ .Values.x.key }}{{ end }}`, true},
		{"a text constant", `{{ index .Values "key" }}`, true},
		{"a raw constant", "{{ get . `key` }}", true},
		{"a part of a path in a constant", `{{ include "f" (list "a.key.b") }}`, true},
		{"a template in a constant", `{{ tpl "x {{ .Values.key }}" . }}`, true},
		{"another word that begins so", `{{ .Values.keys }}{{ .Values.monkey }}{{ index . "key-2" }}`, false},
		{"a variable of that name", `{{ $key := 1 }}{{ $key }}`, false},
		{"a sentence", `{{ fail "no key is given" }}`, false},
		{"a comment", `{{/* .Values.key */}}{{- /* "key" */ -}}`, false},
		{"text outside of actions", `key: .Values.key`, false},
		{"an action that does not end", `{{ .Values.a "`, false},
	} {
		if got := keyuse.Mentioned(tree(map[string]string{"x.yaml": tc.text}), nil, "key"); got != tc.want {
			t.Errorf("%s: %s mentions key: %v", tc.why, tc.text, got)
		}
	}
	c := tree(nil)
	c.Files = []*chart.File{{Name: "README.md", Data: []byte("{{ .a }}")}, {Name: "conf.tpl", Data: []byte("{{ .b }}")}}
	c.Schema = []byte(`{"properties": {"c": {}}}`)
	for key, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "e": false} {
		if got := keyuse.Mentioned(c, map[string]any{"l": []any{"{{ .d }}", "e"}}, key); got != want {
			t.Errorf("a chart's other files, schema and values mention %s: %v", key, got)
		}
	}
}

// Large integers from values files that ended up as text are reported with their place; as
// YAML numbers they do no harm.
func TestExponents(t *testing.T) {
	values := map[string]any{"n": 1000000.0, "small": 10.0, "f": 1234567.5, "i": int64(1000000)}
	for _, tc := range []struct {
		why, text string
		want      []string
	}{
		{"quoted", "a: {{ .Values.n | quote }}", []string{"t/templates/x.yaml:1"}},
		{"amid a text", "\n- --max={{ .Values.n }}", []string{"t/templates/x.yaml:2"}},
		{"in a format", `{{ printf "%v" .Values.n }}`, []string{"t/templates/x.yaml:1"}},
		{"a place is told once", `{{ range until 3 }}x{{ $.Values.n }}{{ end }}`, []string{"t/templates/x.yaml:1"}},
		{"a number of YAML", "a: {{ .Values.n }}\n- {{ .Values.n }}\n", nil},
		{"as an integer", `{{ .Values.n | int64 | quote }}{{ printf "%.0f" .Values.n }}{{ .Values.i | quote }}`, nil},
		{"no exponent, or no whole number", `x{{ .Values.small }} {{ .Values.f | quote }}`, nil},
	} {
		out, err := templating.Render(tree(map[string]string{"x.yaml": tc.text}), map[string]any{"Values": values}, templating.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range out.Exponents {
			got = append(got, at.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.why, diff)
		}
	}
}
