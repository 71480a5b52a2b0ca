package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Check 45: numbers in a Secret are secrets, too, both as they are written and as templates
// print them; short ones would be found everywhere.
func TestCheck45Numbers(t *testing.T) {
	for _, how := range []string{"{{ .Values.pin }}", "{{ int .Values.pin }}", "{{ .Values.pins }}", "{{ .Values.pin | toString }}"} {
		b := newBench(t, "valuesFrom: [{kind: Secret, name: values}]")
		b.local["Secret/values"] = secret("values", map[string]string{"values.yaml": "text: a text\npin: 12345678\npins: [87654321]\nreplicas: 404\n"})
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/fail.yaml", Data: []byte(`{{ fail (printf "404: the pin is %v" (` + strings.Trim(how, "{} ") + ")) }}")})
		_, err := b.pass()
		if all := b.all(err); strings.Contains(all, "2345678") || strings.Contains(all, "7654321") || !strings.Contains(all, "404: the pin is") {
			t.Errorf("%s: %s", how, all)
		}
	}
}
