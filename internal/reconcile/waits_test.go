package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// A pass reports each of its waits, and the end of each before it does anything else: whoever gives up a
// wait must not interrupt hooks and tests, nor a rollback that is being sent.
func TestWaitsAreReported(t *testing.T) {
	const spec = "test: {enable: true}\nupgrade: {remediation: {retries: 0, remediateLastFailure: true}}\n"
	b := newBench(t, spec)
	work := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: work}\n"
	b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/work.yaml", Data: []byte(work)})
	b.withHooks("post-upgrade", "last")
	b.mustPass()
	var told []string
	b.in = func(in *reconcile.Sources) {
		note := func(what string) func() {
			return func() {
				if len(told) == 0 || told[len(told)-1] != what {
					told = append(told, what)
				}
			}
		}
		in.Hook, in.Waiting, in.Waited = note("hook"), note("waiting"), note("waited")
	}
	b.withHooks("test", "fails")
	b.chart.Metadata.Version = "1.1.0"
	if b.mustPass(); b.stored() != "superseded superseded deployed" {
		t.Fatalf("records %s", b.stored())
	}
	const upgrade, test, rollback = "waited waiting waited hook waited", "hook waited", "waiting waited"
	if got := strings.Join(told, " "); got != upgrade+" "+test+" "+rollback {
		t.Errorf("it reports %s", got)
	}
}

// Nothing supersedes what is not pending: tests and an uninstall have no revision of their own that another
// plan could replace.
func TestNothingSupersedesWhatIsNotPending(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.apply(base + "values: {text: two}")
	if b.supersedes() {
		t.Error("a revision that is deployed is superseded")
	}
}
