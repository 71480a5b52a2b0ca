//go:build cluster

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// maxRequests limits a plan's requests to the API server, however many objects the
// release has: discovery, version, identity, namespace and records, and one LIST
// for each kind and namespace. Dry runs come on top, one for each change.
const maxRequests = 15

// TestRequestsOfAPlan counts the requests of plans for a thousand objects: one
// that finds nothing to do, and one that finds a hundred changes, each of which
// is a single write when it is applied.
func TestRequestsOfAPlan(t *testing.T) {
	t.Parallel()
	const perKind, changed = 100, 50
	own, audit := audited(t)
	program := clustertest.Program(t)
	chart := clustertest.ManyObjects(t, perKind)
	objects := perKind * clustertest.ManyKinds
	namespace := own.Namespace(t)
	must(t, own, program, "install", "lots", chart, "-n", namespace)
	must(t, own, program, "plan", "lots", chart, "-n", namespace) // fills the discovery cache

	before := requests(t, audit)
	out, _ := must(t, own, program, "plan", "lots", chart, "-n", namespace)
	sent := requests(t, audit).since(before)
	if !strings.Contains(out, "No changes.") {
		t.Fatalf("the plan should find nothing to do:\n%s", out)
	}
	// A user with permissions in the namespace only: the plan asks verb by verb what is allowed.
	must(t, own, own.Binaries.Kubectl, "create", "rolebinding", "anna", "--clusterrole=admin", "--user=anna", "-n", namespace)
	own.Allowed(t, namespace, "anna", "create", "secrets")
	before = requests(t, audit)
	out, _ = must(t, own, program, "plan", "lots", chart, "-n", namespace, "--as", "anna")
	limited := requests(t, audit).since(before)
	if !strings.Contains(out, "No changes.") {
		t.Errorf("the plan should find nothing to do for anna either:\n%s", out)
	}

	t.Logf("no-op of %d objects: %d requests (%d with rights in the namespace only)", objects, sent.all, limited.all)
	if sent.all > maxRequests || limited.all > maxRequests || sent.dryRuns > 0 {
		t.Errorf("the plan sent %d and %d requests, %d dry runs among them; want at most %d and none", sent.all, limited.all, sent.dryRuns, maxRequests)
	}

	before = requests(t, audit)
	out, _ = must(t, own, program, "plan", "lots", chart, "-n", namespace, "--set", fmt.Sprintf("changed=%d", changed))
	sent = requests(t, audit).since(before)
	changes := 2 * changed // as many ConfigMaps as Deployments
	if want := fmt.Sprintf("%d to change", changes); !strings.Contains(out, want) {
		t.Fatalf("the plan should say %q:\n%s", want, out)
	}
	t.Logf("%d changes of %d objects: %d requests and %d dry runs", changes, objects, sent.all-sent.dryRuns, sent.dryRuns)
	if sent.dryRuns != changes || sent.all-sent.dryRuns > maxRequests {
		t.Errorf("the plan sent %d dry runs and %d other requests, want %d and at most %d",
			sent.dryRuns, sent.all-sent.dryRuns, changes, maxRequests)
	}

	// No plan so far changes what a quota counts; new objects do, and they are all in one namespace.
	if sent.quotas > 0 || limited.quotas > 0 {
		t.Errorf("plans that create nothing asked for quotas")
	}
	before = requests(t, audit)
	must(t, own, program, "plan", "lots", chart, "-n", own.Namespace(t))
	if sent = requests(t, audit).since(before); sent.quotas != 1 || sent.all-sent.dryRuns > maxRequests {
		t.Errorf("the plan of an install asked for quotas %d times, with %d requests besides its dry runs; want once, and at most %d", sent.quotas, sent.all-sent.dryRuns, maxRequests)
	}

	before = requests(t, audit)
	must(t, own, program, "upgrade", "lots", chart, "-n", namespace, "--set", fmt.Sprintf("changed=%d", changed))
	if sent = requests(t, audit).since(before); sent.writes != changes {
		t.Errorf("the upgrade wrote %d times to the objects, want one write for each of %d changed ones", sent.writes, changes)
	}
}

func must(t testing.TB, c *clustertest.Cluster, program string, args ...string) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	result := c.Run(t, program, "", args...)
	took := time.Since(began)
	if result.ExitCode != 0 {
		t.Fatalf("%s %s: exit code %d\n%s", filepath.Base(program), strings.Join(args, " "), result.ExitCode, result.Stderr)
	}
	return result.Stdout, took
}

// traffic counts requests: all, dry runs, writes to the release's objects, those that
// asked for quotas, and writes to Leases.
type traffic struct{ all, dryRuns, writes, quotas, leases int }

func (c traffic) since(before traffic) traffic {
	return traffic{c.all - before.all, c.dryRuns - before.dryRuns, c.writes - before.writes, c.quotas - before.quotas, c.leases - before.leases}
}

// requests counts the requests in an audit log that came from a release tool,
// not from the control plane. The log is written immediately.
func requests(t *testing.T, path string) traffic {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var count traffic
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			break // still being written: not one of our requests, which have been answered
		}
		var event struct {
			UserAgent, Stage, RequestURI, Verb string
			ObjectRef                          struct{ Resource, Name string }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event.Stage != "ResponseComplete" {
			continue
		}
		if strings.HasPrefix(event.UserAgent, "kubectl-release/") || strings.HasPrefix(event.UserAgent, "Helm/") {
			count.all++
			of := event.ObjectRef
			switch bookkeeping := of.Resource == "leases" || strings.HasPrefix(of.Resource, "selfsubject") ||
				of.Resource == "secrets" && (of.Name == "" || strings.HasPrefix(of.Name, "sh.helm.release.")); {
			case strings.Contains(event.RequestURI, "dryRun=All"):
				count.dryRuns++
			case of.Resource == "leases" && event.Verb != "get":
				count.leases++
			case of.Resource == "resourcequotas":
				count.quotas++
			case !bookkeeping && slices.Contains([]string{"create", "update", "patch", "delete"}, event.Verb):
				count.writes++
			}
		}
	}
	return count
}
