//go:build cluster

package e2e

import (
	"strings"
	"testing"
)

// TestFirstPlanPage runs the commands of docs/first-plan.md in order, in a namespace that does not exist yet.
func TestFirstPlanPage(t *testing.T) {
	t.Parallel()
	commands := shown(content(t, inTree("docs", "first-plan.md")))
	if len(commands) != 3 {
		t.Fatalf("the page shows %q", commands)
	}
	namespace, dir, tools := cluster.Namespace(t)+"-own", t.TempDir(), pluginFolder(t)
	t.Cleanup(func() { cluster.Kubectl(t, "delete", "namespace", namespace, "--ignore-not-found", "--wait=false") })
	// Nobody is here to be asked.
	here := strings.NewReplacer("-n shop", "-n "+namespace, "release apply", "release apply --yes")
	for _, line := range commands {
		line = here.Replace(line)
		if r := cluster.Run(t, "bash", "", "-c", "export PATH="+tools+":$PATH; cd "+dir+"; "+line); r.ExitCode != 0 {
			t.Fatalf("$ %s\nexit code %d\n%s%s", line, r.ExitCode, r.Stdout, r.Stderr)
		}
	}
}
