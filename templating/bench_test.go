package templating_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/templating"
)

// BenchmarkTpl is the chart of the speed goal: 2,000 defines and as many calls
// of tpl, with equal texts and with texts of their own.
func BenchmarkTpl(b *testing.B) {
	var defines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&defines, "{{- define \"d%d\" -}}value {{ .Values.a }} %d{{- end }}\n", i, i)
	}
	for name, text := range map[string]string{
		"own":    `{{ range $i := until 2000 }}{{ tpl (printf "{{ include \"d%d\" . }}" $i) $ }}{{ end }}`,
		"equal":  `{{ range $i := until 2000 }}{{ tpl "{{ include \"d7\" . }}" $ }}{{ end }}`,
		"define": `{{ range $i := until 2000 }}{{ tpl (printf "{{ define \"x\" }}%d{{ end }}{{ include \"x\" . }}" $i) $ }}{{ end }}`,
	} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, map[string]string{"_d.tpl": defines.String(), "x.yaml": text})
		})
	}
}

// BenchmarkCalls is what most charts do most: fields, defaults, includes and
// toYaml.
func BenchmarkCalls(b *testing.B) {
	benchmark(b, map[string]string{
		"_h.tpl": `{{ define "name" }}{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}{{ end }}`,
		"x.yaml": `{{ range $i := until 500 }}{{ include "name" $ }}: {{ $.Values.a | quote }}{{ if and $.Values.r (not $.Values.no) }}
{{ toYaml $.Values.r | indent 2 }}{{ end }}{{ end }}`,
	})
}

func benchmark(b *testing.B, files map[string]string) {
	b.ReportAllocs()
	for b.Loop() {
		values := map[string]any{"a": 1, "r": map[string]any{"limits": map[string]any{"cpu": "100m", "memory": "128Mi"}, "list": []any{"a", 1.0, true}}}
		if _, err := templating.Render(tree(files), map[string]any{"Values": values}, templating.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
