package templating_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/templating"
)

// heavyCharts are templates and values that work as hard as charts that people use, in the same ways: expressions
// that look for components in a configuration, and strip its lines; copies of all values for each of many parts;
// dashboards that go through tpl and fromYaml; and a table that is written as YAML and JSON for each part.
func heavyCharts() map[string]struct {
	text   string
	values map[string]any
} {
	parts := map[string]any{}
	for i := range 50 {
		table := map[string]any{}
		for j := range 20 {
			table[fmt.Sprint("key", j)] = map[string]any{"enabled": true, "image": "registry.example.com/a/b:1.2.3", "ports": []any{80.0, 443.0}}
		}
		parts[fmt.Sprint("part", i)] = table
	}
	dashboards := []any{}
	for i := range 40 {
		panel := "- title: CPU\n  expr: sum(rate(cpu{a=\"b\"}[5m])) by (pod)\n  legend: '{{`{{`}}instance}}'\n  gridPos: {h: 8, w: 12, x: 0, y: 1}\n"
		dashboards = append(dashboards, fmt.Sprintf("title: '{{ .Release.Name }} %d'\npanels:\n", i)+strings.Repeat(panel, 300))
	}
	config := strings.Repeat("  otelcol.receiver.otlp \"default\" {\n    endpoint = \"0.0.0.0:4317\" \n  }\n", 1500)
	return map[string]struct {
		text   string
		values map[string]any
	}{
		"expressions": {`{{ range until 80 }}{{ regexMatch (printf "(?m)^[[:space:]]*otelcol\\.exporter\\.number%d[[:space:]]" .) $.Values.config }}{{ end }}
			{{ range until 10 }}{{ regexReplaceAll "[ \\t]+(\\r?\\n)" $.Values.config "\n" | len }}{{ end }}`, map[string]any{"config": config}},
		"copies":     {`{{ range until 120 }}{{ deepCopy $.Values | len }}{{ end }}`, parts},
		"dashboards": {`{{ range .Values.dashboards }}{{ fromYaml (tpl . $) | toRawJson | len }}{{ end }}`, map[string]any{"dashboards": dashboards}},
		"encoding":   {`{{ range until 40 }}{{ toYaml $.Values | sha256sum }}{{ toJson $.Values | sha256sum }}{{ end }}`, parts},
		"versions":   {`{{ range until 100000 }}{{ semverCompare ">=1.19-0" "1.30.1" }}{{ end }}`, nil},
	}
}

// Heavy charts use at most a third of each limit, too.
func TestHeavyChartsHaveRoom(t *testing.T) {
	for name, c := range heavyCharts() {
		top := map[string]any{"Values": c.values, "Release": map[string]any{"Name": "web"}}
		e, err := templating.RenderEffort(tree(map[string]string{"x.yaml": c.text}), top)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if 3*e.Steps > templating.MaxSteps || 3*e.Bytes > templating.MaxBytes || 3*e.Tables > 2*templating.MaxTables {
			t.Errorf("%s: %+v has not three times the room, or one and a half times for lists and maps", name, e)
		}
		t.Logf("%s: %+v", name, e)
	}
}
