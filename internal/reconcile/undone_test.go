package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// An action that is not begun, because another run holds the lock or the process ends, has not failed, and
// the next pass carries it out.
func TestWhatIsNotBegunHasNotFailed(t *testing.T) {
	const uninstalls = "upgrade: {remediation: {retries: 0, remediateLastFailure: true, strategy: uninstall}}\n"
	for name, action := range map[string]struct {
		spec    string
		prepare func(*bench)
		// planned is the reason of the condition Planned that announces the action, done the condition after it.
		planned, done string
	}{
		"test":                  {spec: "test: {enable: true}", planned: "Test", done: "TestSuccess True TestSucceeded"},
		"rollback":              {spec: remedied + "values: {text: bad}", planned: "Rollback", done: "Remediated True RollbackSucceeded"},
		"uninstall as a remedy": {spec: uninstalls + "values: {text: bad}", planned: "Uninstall", done: "Remediated True UninstallSucceeded"},
		"correction of drift": {
			spec: "driftDetection: {mode: enabled}", prepare: func(b *bench) { b.edit("by hand") },
			planned: "CorrectDrift", done: "Drifted False NoDriftDetected",
		},
		"move": {spec: "releaseName: other", planned: "Uninstall", done: "Released False UninstallSucceeded"},
		"deletion": {
			prepare: func(b *bench) { b.hr.Metadata.DeletionTimestamp = &metav1.Time{} },
			planned: "Uninstall", done: "Released False UninstallSucceeded",
		},
	} {
		for _, why := range []string{"locked", "ended"} {
			t.Run(name+", "+why, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, "")
					b.withHooks("test", "checks")
					b.mustPass()
					b.apply(base + action.spec)
					if action.prepare != nil {
						action.prepare(b)
					}
					b.interrupted(action.planned, why == "ended")
					b.mustPass()
					if kind, _, _ := strings.Cut(action.done, " "); b.condition(kind) != action.done {
						t.Errorf("it ends with %s", b.condition(kind))
					}
				})
			})
		}
	}
}

// interrupted makes a pass during which, once an action is planned, the process ends, or else somebody
// takes the lock.
func (b *bench) interrupted(planned string, ends bool) {
	b.t.Helper()
	ctx, end := context.WithCancel(b.t.Context())
	free, begun, events := end, false, 0
	var failures int64
	b.ctx, b.reported = ctx, func(s flux.HelmReleaseStatus) {
		if c := flux.Condition(s.Conditions, flux.ConditionPlanned); begun || c == nil || c.Reason != planned {
			return
		}
		begun, events, failures = true, len(b.events), s.Failures
		if !ends {
			free = b.lock()
			return
		}
		end()
		synctest.Wait()
	}
	out, err := b.pass()
	if waits := err == nil && out.After == 30*time.Second; !begun || waits == ends || out.Released {
		b.t.Errorf("begun %t, %v, %+v", begun, err, out)
	}
	if got := b.hr.Status.Failures; got != failures {
		b.t.Errorf("%d failures, %d before", got, failures)
	}
	for _, e := range b.events[events:] {
		if e.Warning {
			b.t.Errorf("it is reported: %s", e.Message)
		}
	}
	free()
	end()
	b.ctx, b.reported = b.t.Context(), nil
}
