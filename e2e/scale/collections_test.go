//go:build cluster

package scale

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestTemplateCollectsOnce: a chart whose parsed templates take some 20 MB, as those of the largest public
// charts do, is rendered with one collection. All of that stays alive, so a second one would free little. The one that the program
// forces when it starts (see gcpacing.Start) has next to nothing to look at.
func TestTemplateCollectsOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "large")
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: large\nversion: 1.0.0\n", "values.yaml": "a: {b: {c: d}}\n"}
	for i := range 100 {
		files[fmt.Sprintf("templates/%d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i) +
			strings.Repeat("{{- if and .Values.a.b.c (eq .Values.a.b.c \"e\") }}\n# {{ .Release.Name | quote }}\n{{- end }}\n", 115)
	}
	clustertest.WriteFiles(t, dir, files)
	for attempt := 1; ; attempt++ { // when the collector gets its turn is chance on a busy machine: see MeasureWithin
		u := clustertest.Measure(t, []string{"GODEBUG=gctrace=1"}, clustertest.Program(t), "template", "x", dir)
		if u.ExitCode != 0 {
			t.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
		}
		n := strings.Count(u.Stderr, " MB goal, ") - strings.Count(u.Stderr, " (forced)")
		if n == 1 {
			return
		}
		if attempt == 3 {
			t.Fatalf("%d collections, want 1\n%s", n, u.Stderr)
		}
	}
}
