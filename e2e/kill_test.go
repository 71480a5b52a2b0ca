//go:build cluster

package e2e

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// shop is a release in a namespace of its own, with the means to work on it.
type shop struct {
	*testing.T
	namespace string
}

func newShop(t *testing.T) shop { return shop{T: t, namespace: cluster.Namespace(t)} }

// wanted are the values of the upgrade that is killed: a change, a new object
// and one that is removed.
const wanted = "greeting=moin,banner=sale,legacy=false"

func webChart() string { return inTree("testdata", "charts", "web") }

func (s shop) program(args ...string) *exec.Cmd {
	c := exec.Command(clustertest.Program(s), append(args, "--namespace", s.namespace)...)
	c.Env = cluster.Environment()
	return c
}

// must runs the program, which must end with exit code 0.
func (s shop) must(args ...string) clustertest.Result {
	s.Helper()
	r := cluster.Run(s.T, clustertest.Program(s), "", append(args, "--namespace", s.namespace)...)
	if r.ExitCode != 0 {
		s.Fatalf("kubectl-release %s: exit code %d\n%s%s", strings.Join(args, " "), r.ExitCode, r.Stdout, r.Stderr)
	}
	return r
}

func (s shop) get(args ...string) string {
	s.Helper()
	return strings.TrimSpace(cluster.Kubectl(s.T, append([]string{"get", "--namespace", s.namespace}, args...)...))
}

// eventually waits until seen returns true.
func (s shop) eventually(what string, seen func() bool) {
	s.Helper()
	for range 6000 {
		if seen() {
			return
		}
		time.Sleep(200 * time.Millisecond) // each look costs a tenth of a second of CPU time
	}
	s.Fatalf("it has never happened: %s", what)
}

// converged checks that the release is what the upgrade asked for and that its
// history is in order.
func (s shop) converged() {
	s.Helper()
	if got := s.get("configmap", "web-settings", "-o", "jsonpath={.data.greeting}"); got != "moin" {
		s.Errorf("greeting is %q, want moin", got)
	}
	if got := s.get("configmaps", "-o", "name"); !strings.Contains(got, "web-banner") || strings.Contains(got, "web-legacy") {
		s.Errorf("the ConfigMaps are\n%s\nwant web-banner and no web-legacy", got)
	}
	if r := s.must("plan", "web", webChart(), "--reset-values", "--set", wanted); !strings.Contains(r.Stdout, "No changes.") {
		s.Errorf("a plan still finds something to do:\n%s", r.Stdout)
	}
	if leases := s.get("leases", "-o", "name"); leases != "" {
		s.Errorf("the lock is still there: %s", leases)
	}
	if newest := s.statuses()[0]; newest != "deployed" {
		s.Errorf("the newest revision is %s, want deployed", newest)
	}
	// A run that was killed between "deployed" and "superseded" leaves two
	// deployed revisions, of which the newer counts; the next one clears that up.
	s.must("upgrade", "web", webChart(), "--reset-values", "--set", wanted, "--set", "replicas=1")
	for i, status := range s.statuses() {
		if (i == 0) != (status == "deployed") || (i > 0 && status != "superseded" && status != "failed") {
			s.Errorf("the statuses are %v, newest first", s.statuses())
			break
		}
	}
}

// statuses returns the statuses of the revisions, newest first.
func (s shop) statuses() []string {
	s.Helper()
	var history []struct{ Status string }
	if err := json.Unmarshal([]byte(s.must("history", "web", "-o", "json").Stdout), &history); err != nil {
		s.Fatal(err)
	}
	var statuses []string
	for _, r := range slices.Backward(history) {
		statuses = append(statuses, r.Status)
	}
	return statuses
}

// A run that is killed while it waits leaves its lock and a pending revision
// behind. The next plan says what it found, and the next upgrade waits for the
// lock to expire and brings the release to the wanted state (S1).
func TestKilledWhileItWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ values, reached string }{
		"for a hook": {"hooks.pre-upgrade=migrate,hookBehave=run", "job/web-migrate"},
		"for pods":   {"behave=never-ready", "configmap/web-banner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.must("install", "web", webChart(), "--wait")
			upgrade := s.program("upgrade", "web", webChart(), "--set", wanted+","+c.values, "--wait")
			if err := upgrade.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = upgrade.Process.Kill() })
			s.eventually(c.reached+" is there", func() bool { return s.get(c.reached, "--ignore-not-found", "-o", "name") != "" })
			if err := upgrade.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = upgrade.Wait()

			r := s.must("plan", "web", webChart(), "--reset-values", "--set", wanted)
			if !strings.Contains(strings.Join(strings.Fields(r.Stdout), " "), "revision 2 has been pending-upgrade for") || !strings.Contains(r.Stdout, "interrupted") {
				t.Errorf("the plan does not say that revision 2 was interrupted:\n%s", r.Stdout)
			}
			r = s.must("upgrade", "web", webChart(), "--reset-values", "--set", wanted, "--wait")
			if !strings.Contains(r.Stderr, "no longer renews its lock") {
				t.Errorf("nobody is told what the upgrade waits for:\n%s", r.Stderr)
			}
			s.converged()
		})
	}
}
