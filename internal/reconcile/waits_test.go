package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/plan"
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

// A plan that waits for approval, or is denied, does not supersede what is under way: nothing would be done
// for it. It is approved by the digest that it will have.
func TestWhatIsHeldDoesNotSupersede(t *testing.T) {
	for why, spec := range map[string]string{"other values": "values: {text: three}", "a move": "releaseName: other\nvalues: {text: two}"} {
		synctest.Test(t, func(t *testing.T) {
			b := pendingUpgrade(t)
			b.apply(base + spec)
			approved := ""
			var asked []string
			b.r.Gate = func(_ *flux.HelmRelease, made *plan.Plan, is reconcile.Summary) (bool, error) {
				if err := made.WhyBlocked(); err != nil {
					t.Errorf("%s: %v", why, err)
				}
				if asked = append(asked, is.Digest); is.Digest != approved {
					return false, &reconcile.Held{Message: string(made.Operation) + " waits"}
				}
				return true, nil
			}
			free := b.lock() // as the pass that waits has it
			got, err := b.judged()
			free()
			if held, ok := errors.AsType[*reconcile.Held](err); got || len(asked) != 1 || !ok || !strings.HasSuffix(held.Message, " waits") {
				t.Fatalf("%s: a plan that is held supersedes it: %t, %v, %v", why, got, err, asked)
			}
			if approved = asked[0]; !b.supersedes() {
				t.Errorf("%s: an approved plan does not supersede it", why)
			}
			b.mustPass()
			if got := asked[len(asked)-1]; got != approved || len(asked) < 3 || b.condition("Approved") == "Approved False ApprovalRequired" {
				t.Errorf("%s: the digest becomes %s, approved was %s", why, got, approved)
			}
		})
	}
}
