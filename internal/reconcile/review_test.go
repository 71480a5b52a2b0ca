package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/plan"
)

// holding has plans held until the returned value is true.
func (b *bench) holding(held *reconcile.Held) *bool {
	approved := new(bool)
	b.r.Gate = func(*flux.HelmRelease, *plan.Plan, reconcile.Summary) (bool, error) {
		if *approved {
			return true, nil
		}
		return false, held
	}
	return approved
}

// A change that is reverted while it waits for approval leaves nothing waiting.
func TestAHeldChangeThatIsReverted(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.holding(&reconcile.Held{Message: "upgrade waits"})
	b.apply(base + "values: {text: two}")
	if b.mustPass(); b.condition("Approved") != "Approved False ApprovalRequired" {
		t.Fatal(b.condition("Approved"))
	}
	b.apply(base)
	if b.mustPass(); b.condition("Approved") != "" || b.condition("Ready") != "Ready True InstallSucceeded" {
		t.Errorf("%s, %s", b.condition("Approved"), b.condition("Ready"))
	}
}

// A forced upgrade waits for approval like any other, and is then made, once.
func TestAForcedUpgradeIsApproved(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	approved := b.holding(&reconcile.Held{Message: "upgrade waits"})
	b.hr.Metadata.Annotations = map[string]string{flux.AnnotationRequestedAt: "1", flux.AnnotationForceAt: "1"}
	for range 2 {
		if b.mustPass(); b.condition("Approved") != "Approved False ApprovalRequired" || b.hr.Status.LastHandledForceAt != "" || b.hr.Status.LastHandledReconcileAt != "" {
			t.Errorf("%s, %+v", b.condition("Approved"), b.hr.Status)
		}
	}
	*approved = true
	for range 2 {
		if b.mustPass(); b.stored() != "superseded deployed" || b.hr.Status.LastHandledForceAt != "1" || b.hr.Status.LastHandledReconcileAt != "1" {
			t.Errorf("records %s, %+v", b.stored(), b.hr.Status)
		}
	}
}

// An upgrade that is forced while somebody else is working on the release is made afterwards.
func TestAForcedUpgradeOfALockedRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "")
		b.mustPass()
		b.lockedByAnother(func() {
			b.hr.Metadata.Annotations = map[string]string{flux.AnnotationRequestedAt: "1", flux.AnnotationForceAt: "1"}
			if out := b.mustPass(); b.stored() != "deployed" || out.After != 30*time.Second || b.hr.Status.LastHandledForceAt != "" {
				t.Errorf("%+v, records %s", out, b.stored())
			}
		})
		if b.mustPass(); b.stored() != "superseded deployed" || b.hr.Status.LastHandledForceAt != "1" {
			t.Errorf("records %s, %+v", b.stored(), b.hr.Status)
		}
	})
}

// Each pass holds the lock under an identity of its own: another HelmRelease of this process may name
// the same release at the same time.
func TestEachPassHasItsOwnLock(t *testing.T) {
	b := newBench(t, "")
	holders := map[string]bool{}
	b.refuse = func(string) error {
		leases, err := b.records.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(leases.Items) != 1 {
			t.Fatal(leases, err)
		}
		holders[*leases.Items[0].Spec.HolderIdentity] = true
		return nil
	}
	for _, text := range []string{"one", "two"} {
		b.apply("interval: 10m\nchartRef: {kind: HelmChart, name: app}\nvalues: {text: " + text + "}\n")
		b.mustPass()
	}
	if len(holders) != 2 {
		t.Errorf("%d holders of the locks of two passes: %v", len(holders), holders)
	}
}

// A HelmRelease keeps its history while the upgrade of a release that somebody else has changed
// waits for approval: it would otherwise be deleted, or move to another release, and leave that one behind.
func TestAHeldUpgradeOfAnUnmanagedRelease(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.hr.Status.History[0].Digest = "sha256:0"
	b.holding(&reconcile.Held{Message: "upgrade waits"})
	for range 2 {
		if b.mustPass(); b.condition("Approved") != "Approved False ApprovalRequired" || len(b.hr.Status.History) != 1 {
			t.Errorf("%s, %+v", b.condition("Approved"), b.hr.Status.History)
		}
	}
	b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
	if out := b.mustPass(); !out.Released || b.text() != "" {
		t.Errorf("%+v, text %q", out, b.text())
	}
}

// What was approved stays in the status until another plan is made: one that waits, or one
// that needs no approval.
func TestWhatWasApprovedStays(t *testing.T) {
	b := newBench(t, "")
	approved := b.holding(&reconcile.Held{Message: "install waits"})
	b.mustPass()
	*approved = true
	for range 2 {
		b.mustPass()
		if c := flux.Condition(b.hr.Status.Conditions, "Approved"); c == nil || c.Status != "True" || c.Reason != "PlanApproved" || !strings.Contains(c.Message, "(create ConfigMap/web) was approved by sha256:") {
			t.Errorf("%+v", c)
		}
	}
	b.r.Gate = func(*flux.HelmRelease, *plan.Plan, reconcile.Summary) (bool, error) { return false, nil }
	b.apply(base + "values: {text: two}")
	if b.mustPass(); b.condition("Approved") != "" || b.text() != "two" {
		t.Errorf("%s, text %q", b.condition("Approved"), b.text())
	}
}

// A plan that a policy denies is not an attempt: nothing counts as a failure, Released
// stays as it was, and the denial is reported once.
func TestADeniedPlanIsNoFailure(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.holding(&reconcile.Held{Denied: true, Message: "upgrade is denied"})
	b.apply(base + "values: {text: two}")
	b.events = nil
	for range 3 {
		out := b.mustPass()
		if s := b.hr.Status; s.Failures+s.UpgradeFailures != 0 || out.After != 10*time.Minute || out.Again {
			t.Errorf("%+v, %+v", out, s)
		}
		if got := b.condition("Ready") + ", " + b.condition("Released"); got != "Ready False PlanDenied, Released True InstallSucceeded" {
			t.Error(got)
		}
	}
	var told []string
	for _, e := range b.events {
		told = append(told, e.Reason)
	}
	if got := strings.Join(told, " "); got != "PlanDenied" || b.text() != "one" || b.stored() != "deployed" {
		t.Errorf("events %s, text %q, records %s", got, b.text(), b.stored())
	}
}

// A panic in a pass is its error, without secrets, and leaves the status and the lock as they
// were.
func TestAPanicIsAnError(t *testing.T) {
	b := newBench(t, "valuesFrom: [{kind: Secret, name: values}]")
	b.local["Secret/values"] = secret("values", map[string]string{"values.yaml": "text: s3cr3t-canary-value"})
	b.r.Gate = func(*flux.HelmRelease, *plan.Plan, reconcile.Summary) (bool, error) {
		panic("it is s3cr3t-canary-value")
	}
	_, err := b.pass()
	broken := (*reconcile.PanicError)(nil)
	if !errors.As(err, &broken) || strings.Contains(err.Error(), "canary") || !strings.Contains(broken.Stack, "review_test.go") {
		t.Errorf("%v", err)
	}
	if b.hr.Status.Failures != 0 || len(b.hr.Status.Conditions) != 0 {
		t.Errorf("%+v", b.hr.Status)
	}
	b.r.Gate = nil
	if b.mustPass(); b.stored() != "deployed" {
		t.Errorf("records %s", b.stored())
	}
}

// A message that is longer than the CRD allows is cut between characters, and reported once.
func TestLongMessagesAreCut(t *testing.T) {
	b := newBench(t, "")
	b.holding(&reconcile.Held{Message: "a" + strings.Repeat("ä", 40000)})
	for range 2 {
		b.mustPass()
	}
	for _, text := range []string{flux.Condition(b.hr.Status.Conditions, "Ready").Message, b.events[0].Message} {
		if len(text) > 32768 || len(text) < 32760 || !utf8.ValidString(text) || !strings.HasSuffix(text, "ä …") {
			t.Errorf("%d bytes, ending with %q", len(text), text[len(text)-8:])
		}
	}
	if len(b.events) != 1 {
		t.Errorf("%d events", len(b.events))
	}
}
