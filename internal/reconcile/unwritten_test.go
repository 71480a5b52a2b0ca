package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// unwrittenPass makes a pass of whose statuses only the first, which announces the action, can be
// written.
func (b *bench) unwrittenPass() {
	b.t.Helper()
	b.reports = nil
	b.unwritten = func(flux.HelmReleaseStatus) error {
		if len(b.reports) == 1 {
			return nil
		}
		return errors.New("etcdserver: leader changed")
	}
	if _, err := b.pass(); err == nil {
		b.t.Fatal("it has no error")
	}
	b.unwritten, b.hr.Status = nil, b.reports[0]
}

// A HelmRelease that changes while the outcome of its upgrade can't be written keeps its history, and
// what was deployed is not deployed once more.
func TestUnwrittenOutcomeOfAnotherGeneration(t *testing.T) {
	const two = "values: {text: two}\n"
	for _, tc := range []struct{ why, first, then, records, ready, config string }{
		{"the interval", two, two + "timeout: 1m", "superseded deployed", "Ready True UpgradeSucceeded", "two"},
		{"the values", two, "values: {text: three}", "superseded superseded deployed", "Ready True UpgradeSucceeded", "three"},
		{"common metadata", two, two + "commonMetadata: {labels: {team: a}}", "superseded superseded deployed", "Ready True UpgradeSucceeded", "two"},
		{"the values, after a failure", "values: {text: bad}", two, "superseded failed deployed", "Ready True UpgradeSucceeded", "two"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			b := newBench(t, "")
			b.mustPass()
			b.apply(base + tc.first)
			b.unwrittenPass()
			b.apply(base + tc.then)
			b.mustPass()
			if b.stored() != tc.records || b.condition("Ready") != tc.ready || b.text() != tc.config {
				t.Errorf("records %s, %s, text %q", b.stored(), b.condition("Ready"), b.text())
			}
			s := b.hr.Status
			if want := len(strings.Fields(tc.records)); s.History[0].Version != want || len(s.History) < 2 || s.History[1].Version != want-1 || s.UpgradeFailures != 0 {
				t.Errorf("%d failures, history %+v", s.UpgradeFailures, s.History)
			}
			if n := b.quiet(); n != 0 {
				t.Errorf("%d writes once all is in sync", n)
			}
		})
	}
}

// An action that succeeds has not failed because the status can't be written afterwards.
func TestUnwrittenSuccessIsNoFailure(t *testing.T) {
	for _, strategy := range []string{"", "upgrade: {strategy: {name: RetryOnFailure}}\n"} {
		b := newBench(t, strategy)
		b.mustPass()
		b.apply(base + strategy + "values: {text: two}")
		b.reports, b.unwritten = nil, func(flux.HelmReleaseStatus) error {
			if len(b.reports) == 1 {
				return nil
			}
			return errors.New("etcdserver: leader changed")
		}
		if _, err := b.pass(); err == nil || b.condition("Ready") != "Ready True UpgradeSucceeded" || len(b.hr.Status.History) != 2 {
			t.Errorf("%v, %s, history %+v", err, b.condition("Ready"), b.hr.Status.History)
		}
		b.unwritten = nil
		if b.mustPass(); b.stored() != "superseded deployed" || b.hr.Status.Failures != 0 {
			t.Errorf("records %s, %+v", b.stored(), b.hr.Status)
		}
	}
}

// Drift that can't be looked for at all is unknown, and tried again. The HelmRelease stays ready; if the
// reconciler is Compatible, as with helm-controller, it does not.
func TestDriftThatCannotBeLookedFor(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "driftDetection: {mode: enabled}")
		b.r.Compatible = compatible
		b.mustPass()
		b.unseen = errors.New("configmaps is forbidden")
		want := "Drifted Unknown DriftUnknown, Ready True InstallSucceeded"
		if compatible {
			want = "Drifted False NoDriftDetected, Ready False StateError"
		}
		for range 2 {
			_, err := b.pass()
			if got := b.condition("Drifted") + ", " + b.condition("Ready"); got != want || err == nil || !strings.Contains(b.all(nil), "configmaps is forbidden") {
				t.Errorf("compatible %t: %s, %v", compatible, got, err)
			}
		}
		b.unseen = nil
		b.mustPass()
		if got := b.condition("Drifted") + ", " + b.condition("Ready"); got != "Drifted False NoDriftDetected, Ready True InstallSucceeded" {
			t.Errorf("compatible %t: %s", compatible, got)
		}
	}
}
