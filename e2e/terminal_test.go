//go:build cluster

package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A terminal that closes in the middle of a wait stops the run in an orderly way, as
// SIGTERM does: it ends with a terminal status and releases the lock, although
// its output no longer goes anywhere.
func TestTerminalThatCloses(t *testing.T) {
	for name, c := range map[string]struct {
		flags    []string
		code     int
		statuses string
	}{
		"plain":  {nil, 1, "failed deployed"},
		"atomic": {[]string{"--atomic"}, 5, "deployed failed superseded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.must("install", "web", webChart(), "--wait")
			upgrade := s.program(append([]string{"upgrade", "web", webChart(), "--set", wanted + ",behave=never-ready", "--wait", "--timeout", "10m"}, c.flags...)...)
			s.closeTerminal(upgrade)
			_ = upgrade.Wait()
			if code := upgrade.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d: %v", code, c.code, upgrade.ProcessState)
			}
			if got := strings.Join(s.statuses(), " "); got != c.statuses {
				t.Errorf("the statuses are %s, newest first, want %s", got, c.statuses)
			}
			if leases := s.get("leases", "-o", "name"); leases != "" {
				t.Errorf("the lock is still there: %s", leases)
			}
		})
	}
}

// Under nohup a run continues when its terminal closes, and completes.
func TestTerminalThatClosesUnderNohup(t *testing.T) {
	s := newShop(t)
	s.must("install", "web", webChart(), "--wait")
	upgrade := s.program("upgrade", "web", webChart(), "--set", wanted+",behave=never-ready", "--wait", "--timeout", "10m")
	// nohup itself would send the output to a file.
	ignoring := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`}, upgrade.Args...)...)
	ignoring.Env = upgrade.Env
	s.closeTerminal(ignoring)
	cluster.Kubectl(t, "patch", "deployment", "web", "--namespace", s.namespace, "--type", "json",
		"--patch", `[{"op": "remove", "path": "/spec/template/metadata/annotations/testcluster.kubectl-release.dev~1behave"}]`)
	_ = ignoring.Wait()
	if code := ignoring.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %v", code, ignoring.ProcessState)
	}
	if got := strings.Join(s.statuses(), " "); got != "deployed superseded" {
		t.Errorf("the statuses are %s, newest first, want deployed superseded", got)
	}
}

// closeTerminal starts a program on a terminal of its own, and closes the terminal when
// revision 2 is in progress and its Deployment has been written.
func (s shop) closeTerminal(c *exec.Cmd) {
	s.Helper()
	terminal, err := pty.Start(c)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.Process.Kill() })
	s.eventually("revision 2 is under way", func() bool {
		return s.get("deployment", "web", "-o", `jsonpath={.spec.template.metadata.annotations.testcluster\.kubectl-release\.dev/behave}`) == "never-ready"
	})
	if err := terminal.Close(); err != nil {
		s.Fatal(err)
	}
}
