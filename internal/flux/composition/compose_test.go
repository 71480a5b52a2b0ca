package composition

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

var data = map[string]string{
	"ConfigMap/file/values.yaml":   "a: file\nnested: {a: file, b: file}\nlist: [1, 2]\nnumber: 1000000\n",
	"ConfigMap/one/values.yaml":    "one\n",
	"ConfigMap/list/values.yaml":   "{x,y}",
	"ConfigMap/quoted/values.yaml": "'7'",
	"ConfigMap/comma/values.yaml":  "x,y",
	"ConfigMap/bad/values.yaml":    "a: [",
	"ConfigMap/root/values.yaml":   "[1]",
	"Secret/hidden/values.yaml":    "",
}

func lookup(ref flux.ValuesReference) ([]byte, Found) {
	text, ok := data[ref.Kind+"/"+ref.Name+"/"+ref.Key()]
	switch {
	case ref.Name == "hidden":
		return nil, Unknown
	case !ok:
		return nil, Missing
	}
	return []byte(text), Known
}

func configMap(name, path string) flux.ValuesReference {
	return flux.ValuesReference{Kind: "ConfigMap", Name: name, TargetPath: path}
}

// Checks 10 to 13 of FLUX.md, without the traces.
func TestCheck11To13Composition(t *testing.T) {
	optional := flux.ValuesReference{Kind: "ConfigMap", Name: "gone", Optional: true}
	literal := configMap("comma", `a\.b`)
	literal.Literal = true
	for _, c := range []struct {
		why, inline string
		from        []flux.ValuesReference
		want, note  string
	}{
		{"a file below inline values; lists are replaced", `{"a": "inline", "list": [3]}`, []flux.ValuesReference{configMap("file", "")}, `{"a": "inline", "nested": {"a": "file", "b": "file"}, "list": [3], "number": 1000000}`, ""},
		{"null is kept for Helm", `{"a": null}`, []flux.ValuesReference{configMap("file", "")}, `{"a": null, "nested": {"a": "file", "b": "file"}, "list": [1, 2], "number": 1000000}`, ""},
		{"targetPath at the top level loses", `{"a": "inline"}`, []flux.ValuesReference{configMap("one", "a")}, `{"a": "inline"}`, "targetPath a has no effect, spec.values sets it"},
		{"targetPath nested as the first entry wins", `{"nested": {"a": "inline"}}`, []flux.ValuesReference{configMap("one", "nested.a")}, `{"nested": {"a": "one\n"}}`, ""},
		{"and beats files that come later", `{"nested": {"a": "inline"}}`, []flux.ValuesReference{configMap("one", "nested.a"), configMap("file", "")}, `{"a": "file", "nested": {"a": "one\n", "b": "file"}, "list": [1, 2], "number": 1000000}`, ""},
		{"behind another entry it loses", `{"nested": {"a": "inline"}}`, []flux.ValuesReference{configMap("quoted", "x"), configMap("one", "nested.a")}, `{"x": "7", "nested": {"a": "inline"}}`, "targetPath nested.a has no effect, spec.values sets it"},
		{"a list, an index", `{}`, []flux.ValuesReference{configMap("list", "l"), configMap("one", "m[1]")}, `{"l": ["x", "y"], "m": [null, "one\n"]}`, ""},
		{"a literal value, a dot in the key", `{}`, []flux.ValuesReference{literal}, `{"a.b": "x,y"}`, ""},
		{"an optional object that is missing", `{"a": 1}`, []flux.ValuesReference{optional}, `{"a": 1}`, ""},
		{"a later entry wins", `{}`, []flux.ValuesReference{configMap("one", "a"), configMap("file", "")}, `{"a": "file", "nested": {"a": "file", "b": "file"}, "list": [1, 2], "number": 1000000}`, "a later entry of valuesFrom sets it"},
	} {
		hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: "apps", Name: "web"}}
		hr.Spec.Values, hr.Spec.ValuesFrom = json.RawMessage(c.inline), c.from
		got, err := Compose(hr, lookup)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if !sameJSON(t, got.Values, c.want) {
			t.Errorf("%s: %v, want %s", c.why, got.Values, c.want)
		}
		notes := strings.Join(got.Notes, "; ")
		if (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", c.why, notes, c.note)
		}
	}
}

func TestCheck12And13WhatCanNotBeComposed(t *testing.T) {
	for _, c := range []struct {
		ref   flux.ValuesReference
		fails string
	}{
		{configMap("comma", "a"), `what follows the comma in the value of "a" is not KEY=VALUE`},
		{configMap("gone", ""), "could not resolve ConfigMap chart values reference 'apps/gone' with key 'values.yaml'"},
		{configMap("bad", ""), "yaml"},
		{configMap("root", ""), "apps/root"},
	} {
		hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: "apps", Name: "web"}}
		hr.Spec.ValuesFrom = []flux.ValuesReference{c.ref}
		_, err := Compose(hr, lookup)
		var refused *Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want %s", c.ref.Name, err, c.fails)
		}
	}
}

// TestErrorsDoNotQuoteSecrets: what of a Secret can't be used as values is in no error.
func TestErrorsDoNotQuoteSecrets(t *testing.T) {
	for _, content := range []string{"abc,Sup3rS3cretPart", "[Sup3rS3cretPart", "Sup3rS3cretPart"} {
		for _, path := range []string{"a", ""} {
			hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: "apps", Name: "web"}}
			hr.Spec.ValuesFrom = []flux.ValuesReference{{Kind: "Secret", Name: "login", TargetPath: path}}
			_, err := Compose(hr, func(flux.ValuesReference) ([]byte, Found) { return []byte(content), Known })
			if err != nil && (strings.Contains(err.Error(), "Sup3r") || !strings.Contains(err.Error(), "apps/login")) {
				t.Errorf("%q at %q: %v", content, path, err)
			}
			if err == nil && (path == "" || strings.Contains(content, ",")) {
				t.Errorf("%q at %q is no error", content, path)
			}
		}
	}
}

// Check 15 of FLUX.md: an unknown value is a marker, or nothing at all, the same each time.
func TestCheck15UnknownSecrets(t *testing.T) {
	hr := &flux.HelmRelease{Metadata: flux.Metadata{Namespace: "apps", Name: "web"}}
	hr.Spec.ValuesFrom = []flux.ValuesReference{
		{Kind: "Secret", Name: "hidden"}, {Kind: "Secret", Name: "hidden", ValuesKey: "key", TargetPath: "db.password"},
	}
	got, err := Compose(hr, lookup)
	if err != nil {
		t.Fatal(err)
	}
	if !sameJSON(t, got.Values, `{"db": {"password": "(unknown Secret/apps/hidden key)"}}`) || len(got.Unknown) != 2 {
		t.Errorf("%+v", got)
	}
}

func sameJSON(t *testing.T, got any, want string) bool {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(data, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		t.Fatalf("%s or %s is no JSON", data, want)
	}
	return reflect.DeepEqual(a, b)
}
