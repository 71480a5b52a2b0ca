package templating_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/keyuse"
	"github.com/kubectl-release/kubectl-release/templating"
)

// BenchmarkTpl renders the chart of the speed goal: 2,000 defines and as many calls
// of tpl, with equal and with different texts.
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
			benchmark(b, templating.Options{}, map[string]string{"_d.tpl": defines.String(), "x.yaml": text})
		})
	}
}

// BenchmarkCalls measures what most charts do most: fields, defaults, includes and
// toYaml.
func BenchmarkCalls(b *testing.B) {
	benchmark(b, templating.Options{}, calls)
}

// BenchmarkWatching is BenchmarkCalls with and without a key that internal/keyuse watches:
// renders without one, which is nearly all, must not be slowed down.
func BenchmarkWatching(b *testing.B) {
	for name, watch := range map[string][]keyuse.Watched{"nothing": nil, "a key": {{Keys: []string{"a"}}}} {
		b.Run(name, func(b *testing.B) { benchmark(b, templating.Options{Watch: watch}, calls) })
	}
}

var calls = map[string]string{
	"_h.tpl": `{{ define "name" }}{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}{{ end }}`,
	"x.yaml": `{{ range $i := until 500 }}{{ include "name" $ }}: {{ $.Values.a | quote }}{{ if and $.Values.r (not $.Values.no) }}
{{ toYaml $.Values.r | indent 2 }}{{ end }}{{ end }}`,
}

func benchmark(b *testing.B, options templating.Options, files map[string]string) {
	b.ReportAllocs()
	for b.Loop() {
		values := map[string]any{"a": 1, "r": map[string]any{"limits": map[string]any{"cpu": "100m", "memory": "128Mi"}, "list": []any{"a", 1.0, true}}}
		for i := range options.Watch {
			options.Watch[i].Tables = []map[string]any{values}
		}
		if _, err := templating.Render(tree(files), map[string]any{"Values": values}, options); err != nil {
			b.Fatal(err)
		}
	}
}
