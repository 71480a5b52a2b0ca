package templating

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// render renders one file "t/templates/x.yaml" next to others by name.
func render(t testing.TB, text string, values map[string]any, more map[string]string) (string, error) {
	t.Helper()
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "t", Version: "1.2.3", APIVersion: "v2"}}
	c.Templates = []*chart.File{{Name: "templates/x.yaml", Data: []byte(text)}}
	for name, data := range more {
		c.Templates = append(c.Templates, &chart.File{Name: name, Data: []byte(data)})
	}
	out, err := Render(c, map[string]any{
		"Values":       values,
		"Capabilities": DefaultCapabilities(),
		"Release":      map[string]any{"Name": "r", "Namespace": "n", "Service": "Helm"},
	}, Options{})
	if err != nil {
		return "", err
	}
	for _, f := range out.Files {
		if f.Path == "t/templates/x.yaml" {
			return f.Content, nil
		}
	}
	return "", nil
}

func TestSmoke(t *testing.T) {
	got, err := render(t, `{{ define "a" }}[{{ . }}]{{ end }}{{ include "a" .Values.x | upper }} {{ tpl "{{ .Values.x }}{{ include \"a\" 1 }}" . }} {{ .Capabilities.KubeVersion }} {{ range $i, $e := .Values.l }}{{ $i }}={{ $e }},{{ end }}{{ .Values.y.z | default "d" }}`,
		map[string]any{"x": "hello", "l": []any{1, 2}, "y": map[string]any{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("[HELLO] hello[1] v1.36.0 0=1,1=2,d", got); d != "" {
		t.Error(d)
	}
}
