//go:build cluster

package hostile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestHostileReports plans charts whose changes are many and alike: what is planned and printed takes time in
// proportion to them, in every format. They are no errors.
func TestHostileReports(t *testing.T) {
	program := clustertest.Program(t)
	many := map[string]string{
		"templates/x.yaml": "{{ range $i := until 20 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c{{ $i }}}\n" +
			"data: { {{ range until 500 }}k{{ . }}: {{ $.Values.v }}, {{ end }} }\n{{ end }}",
	}
	long := map[string]string{
		"templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n" +
			"data: {list: '[{{ range until 20000 }}{\"name\":\"n{{ . }}\",\"v\":1}, {{ end }}{\"name\":\"last\",\"v\":\"{{ .Values.v }}\"}]'}\n",
	}
	for name, c := range map[string]struct {
		chart map[string]string
		args  []string
	}{
		"changes that are alike in HTML":      {many, []string{"-o", "html"}},
		"changes that are alike in a comment": {many, []string{"-o", "markdown", "--spill", filepath.Join(t.TempDir(), "rest.md")}},
		"a long list of named items":          {long, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := func(v string) string {
				dir := filepath.Join(t.TempDir(), "web")
				clustertest.WriteFiles(t, dir, map[string]string{"Chart.yaml": plainChart, "values.yaml": "v: " + v + "\n"})
				clustertest.WriteFiles(t, dir, c.chart)
				return dir
			}
			most := clustertest.Limits{CPU: time.Duration(2 * pace() * float64(hostileTime)), MaxRSS: hostileMemory}
			args := append([]string{"plan", "web", dir("b"), "--offline", "--against", dir("a")}, c.args...)
			u := clustertest.MeasureWithin(t, most, os.Environ(), program, args...)
			if u.ExitCode != 0 {
				t.Errorf("exit code %d: %.2000s", u.ExitCode, u.Stderr)
			}
		})
	}
}
