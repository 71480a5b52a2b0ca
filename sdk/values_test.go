package sdk

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Values of Go's own types are those of decoded JSON, as they are after a record was read.
func TestValuesOfGoTypes(t *testing.T) {
	type port int
	type probe struct {
		Path string `json:"path"`
	}
	list := []string{"a"}
	got, err := plainTable(map[string]any{
		"list": list, "labels": map[string]string{"team": "x"}, "ports": []port{80}, "sizes": map[string]uint16{"a": 12345},
		"probe": &probe{"/"}, "at": time.Unix(0, 0).UTC(), "bytes": []byte("hi"), "null": nil, "off": false,
		"int": 12345678, "float": 1.5, "whole": float64(12345678), "deep": map[string]any{"x": []any{[]int{1}}},
	})
	want := map[string]any{
		"list": []any{"a"}, "labels": map[string]any{"team": "x"}, "ports": []any{int64(80)}, "sizes": map[string]any{"a": int64(12345)},
		"probe": map[string]any{"path": "/"}, "at": "1970-01-01T00:00:00Z", "bytes": "aGk=", "null": nil, "off": false,
		"int": int64(12345678), "float": 1.5, "whole": float64(12345678), "deep": map[string]any{"x": []any{[]any{int64(1)}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	if _, err := plainTable(map[string]any{"a": map[string]any{"b": make(chan int)}}); err == nil || !strings.HasPrefix(err.Error(), "value a: value b: json: ") {
		t.Error(err)
	}
}

// A release is looked for in one namespace, by a name that Helm allows.
func TestReleasesAreChecked(t *testing.T) {
	client := &Client{}
	for want, r := range map[string]Release{
		`release "web": a namespace is required`: {Name: "web"},
		`"Web" is not a valid release name`:      {Namespace: "shop", Name: "Web"},
		`"" is not a valid release name`:         {Namespace: "shop"},
	} {
		_, planned := client.Plan(t.Context(), Uninstall{Release: r})
		_, listed := client.History(t.Context(), r)
		_, read := client.Get(t.Context(), r, 0)
		for _, err := range []error{planned, listed, read} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if _, err := Template(t.Context(), Release{Namespace: "shop", Name: "web"}, nil, nil, TemplateOptions{}); err == nil {
		t.Error("no chart is rendered")
	}
}
