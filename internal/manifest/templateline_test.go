package manifest

import "testing"

// An object's line is that of its kind, in the document whose name matches.
func TestTemplateLine(t *testing.T) {
	const template = `{{- if .Values.on }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-motd
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ .Release.Name }}-other"
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "x.name" . }}
{{- end }}
`
	for _, tc := range []struct {
		kind, name string
		want       int
	}{
		{"ConfigMap", "web-motd", 3},
		{"ConfigMap", "web-other", 8},
		{"ConfigMap", "unlike-both", 3},
		{"ConfigMap", "-motd", 3},
		{"ConfigMap", "motd", 3},
		{"ConfigMap", "a-motd-other", 8},
		{"Service", "web", 13},
		{"Deployment", "web", 1},
	} {
		if got := ReadTemplateLines(template).Line(ID{Kind: tc.kind, Name: tc.name}); got != tc.want {
			t.Errorf("%s %s: line %d, want %d", tc.kind, tc.name, got, tc.want)
		}
	}
}
