//go:build cluster

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestEventsPage runs the commands of docs/events.md, with gojq as jq: for a chart that is installed, and for one
// whose hook fails.
func TestEventsPage(t *testing.T) {
	t.Parallel()
	commands := shown(content(t, inTree("docs", "events.md")))
	if len(commands) != 2 {
		t.Fatalf("the page shows %q", commands)
	}
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {helm.sh/hook: post-install}}\nspec:\n  backoffLimit: 0\n  template:\n" +
		"    metadata: {annotations: {testcluster.kubectl-release.dev/behave: fail}}\n    spec: {restartPolicy: Never, containers: [{name: work, image: shop/work:1.0}]}\n"
	tools := policyTools(t)
	for name, c := range map[string]struct{ hook, outcome string }{"it is installed": {"", `"done"`}, "its hook fails": {job, `"rolledBack"`}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeClaimChart(t, filepath.Join(dir, "chart"), false)
			clustertest.WriteFiles(t, filepath.Join(dir, "chart"), map[string]string{"templates/hook.yaml": c.hook})
			run := func(line string) string {
				r := cluster.Run(t, "bash", "", "-c", "export PATH="+tools+":$PATH HELM_NAMESPACE="+cluster.Namespace(t)+"; cd "+dir+"; "+line)
				if r.ExitCode != 0 {
					t.Errorf("$ %s\nexit code %d\n%s", line, r.ExitCode, r.Stderr)
				}
				return strings.TrimSpace(r.Stdout)
			}
			if failed := run(commands[0]); (failed != "") != (c.hook != "") {
				t.Errorf("what failed: %q", failed)
			}
			if outcome := run(commands[1]); outcome != c.outcome {
				t.Errorf("the outcome is %s, want %s", outcome, c.outcome)
			}
		})
	}
}
