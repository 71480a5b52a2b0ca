//go:build cluster

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestPolicyPage runs the commands of docs/policy.md and docs/plan-json.md, with
// the real conftest and gojq as jq, on a harmless plan and on one that deletes a
// volume claim.
func TestPolicyPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(inTree("docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	fields, err := os.ReadFile(inTree("docs", "plan-json.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := append(shown(string(text)), shown(string(fields))...)
	if len(commands) != 4 {
		t.Fatalf("the pages show %q", commands)
	}
	namespace, dir, tools := cluster.Namespace(t), t.TempDir(), policyTools(t)
	if err := os.Symlink(inTree("docs"), filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	run := func(line string) (int, string) {
		result := cluster.Run(t, "bash", "", "-c", "export PATH="+tools+":$PATH HELM_NAMESPACE="+namespace+"; cd "+dir+"; "+line)
		return result.ExitCode, result.Stdout + result.Stderr
	}
	chart := filepath.Join(dir, "chart")
	writeClaimChart(t, chart, true)
	if code, out := run("kubectl release install web ./chart"); code != 0 {
		t.Fatal(out)
	}
	for name, c := range map[string]struct {
		claim bool
		codes [4]int
		said  [4]string
	}{
		"a plan without deletions passes": {claim: true, said: [4]string{"", "true", "0 failures", ""}},
		"a plan that takes a claim away does not": {
			codes: [4]int{0, 1, 1, 0},
			said:  [4]string{"", "false", "delete of PersistentVolumeClaim " + namespace + "/data: the chart no longer renders it", "PersistentVolumeClaim/data"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			writeClaimChart(t, chart, c.claim)
			for i, line := range commands {
				code, out := run(line)
				if code != c.codes[i] || !strings.Contains(out, c.said[i]) {
					t.Errorf("$ %s\nexit code %d, want %d and %q\n%s", line, code, c.codes[i], c.said[i], out)
				}
			}
		})
	}
}

// policyTools returns a folder for PATH with the program, jq and conftest.
func policyTools(t *testing.T) string {
	t.Helper()
	dir := pluginFolder(t)
	for name, tool := range map[string]string{"jq": "gojq", "conftest": "conftest"} {
		path, err := cluster.Binaries.Tool(t.Context(), tool, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// writeClaimChart writes a chart with a ConfigMap and, if wanted, a claim.
func writeClaimChart(t *testing.T, dir string, claim bool) {
	t.Helper()
	files := map[string]string{
		"Chart.yaml":            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		"templates/claim.yaml":  "",
	}
	if claim {
		files["templates/claim.yaml"] = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n" +
			"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	}
	clustertest.WriteFiles(t, dir, files)
}
