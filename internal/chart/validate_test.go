package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All findings are reported together, so a chart can be fixed in one go.
func TestValidateCollects(t *testing.T) {
	m := &Metadata{Name: "..", Type: "x", Dependencies: []*Dependency{nil, {Name: "a", Alias: "b/c"}}}
	err := m.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"apiVersion", "name", "version", "type", "empty entry", "alias"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not speak of %s: %v", want, err)
		}
	}
	if err := (*Metadata)(nil).Validate(); err == nil {
		t.Error("no error without metadata")
	}
}

// Text is stripped of what a terminal would interpret; a version with such characters is refused.
func TestValidateCleans(t *testing.T) {
	m := &Metadata{
		APIVersion: "v2", Name: "a\x1b", Version: "1.0.0", Description: "x\ty\x00",
		Keywords: []string{"k\u200b"}, Maintainers: []*Maintainer{{Name: "\x1b[1mme"}},
		Dependencies: []*Dependency{{Name: "d\x07", Tags: []string{"t\n"}}},
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	want := &Metadata{
		APIVersion: "v2", Name: "a", Version: "1.0.0", Description: "x y",
		Keywords: []string{"k"}, Maintainers: []*Maintainer{{Name: "[1mme"}},
		Dependencies: []*Dependency{{Name: "d", Tags: []string{"t "}}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.Version = "1.0.0\x1b"
	if err := m.Validate(); err == nil {
		t.Error("a version with an escape was accepted")
	}
}

// Templates get lists, never nil, and plain maps.
func TestFields(t *testing.T) {
	m := &Metadata{Name: "a", Maintainers: []*Maintainer{{Name: "me"}}, Dependencies: []*Dependency{{Name: "d", Alias: "e"}}}
	f := m.Fields()
	if diff := cmp.Diff([]any{map[string]any{"Name": "me", "Email": "", "URL": ""}}, f["Maintainers"]); diff != "" {
		t.Errorf("maintainers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{}, f["Keywords"]); diff != "" {
		t.Errorf("keywords (-want +got):\n%s", diff)
	}
	dep := f["Dependencies"].([]any)[0].(map[string]any)
	if dep["Alias"] != "e" || dep["Name"] != "d" {
		t.Errorf("dependency: %v", dep)
	}
	if (*Metadata)(nil).Fields() != nil {
		t.Error("fields without metadata")
	}
}

// A clone can be renamed and pruned without the original noticing.
func TestClone(t *testing.T) {
	c := &Chart{Metadata: &Metadata{Name: "a", Dependencies: []*Dependency{{Name: "d"}}}}
	c.AddDependency(&Chart{Metadata: &Metadata{Name: "d"}})
	k := c.Clone()
	k.Metadata.Dependencies[0].Name = "e"
	k.Dependencies()[0].Metadata.Name = "e"
	k.SetDependencies()
	if c.Metadata.Dependencies[0].Name != "d" || len(c.Dependencies()) != 1 || c.Dependencies()[0].FullPath() != "a/charts/d" {
		t.Errorf("the original changed: %+v", c.Metadata.Dependencies[0])
	}
}
