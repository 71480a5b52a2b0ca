package reconcile

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Gate checks the plan of an install or upgrade, and of the uninstall by which a
// HelmRelease moves to another release, before any of it is written. approved is true if
// somebody has approved it, false if it needs no approval. Errors: a *Held for a plan that
// is not carried out; others fail the attempt, without a record.
type Gate func(hr *flux.HelmRelease, made *plan.Plan, is Summary) (approved bool, err error)

// Held says that a plan waits for its approval, or is denied. It does not count as a
// failure, and the release stays as it is.
type Held struct {
	// Denied says that a policy forbids the plan, so no approval helps.
	Denied bool
	// Message says what the plan does and how it is approved, without secrets.
	Message string
}

func (e *Held) Error() string { return e.Message }

// Event returns the event that reports it.
func (e *Held) Event() Event {
	return Event{Warning: e.Denied, Reason: e.reason(), Message: bounded(e.Message)}
}

func (e *Held) reason() string {
	if e.Denied {
		return planDenied
	}
	return approvalRequired
}

// How a plan that waits is reported, in the condition Approved and as the reason of Ready:
// helm-controller has neither. The plan that was approved last stays in the condition.
const (
	approved         = flux.ConditionApproved
	planApproved     = "PlanApproved"
	approvalRequired = flux.ReasonApprovalRequired
	planDenied       = "PlanDenied"
)

// checkGate has the gate check a plan; the status reports the action as running only once it may run.
func (p *pass) checkGate(ctx context.Context, made *plan.Plan, is Summary) error {
	if p.r.Gate != nil && (made.Operation == plan.Install || made.Operation == plan.Upgrade || made.Operation == plan.Uninstall && p.moving) {
		yes, err := p.r.Gate(p.hr, made, is)
		if err != nil {
			return err
		}
		if p.drop(approved); yes {
			p.mark(approved, metav1.ConditionTrue, planApproved, is.Text+" was approved by "+is.Digest)
		}
	}
	if p.early() { // the status says so already
		return nil
	}
	return p.write(ctx)
}

// unwrittenError says that the status could not be written while a pass goes on: before an action
// began, so nothing of it was done, or after it ended. Neither is a failure of the action.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string { return e.err.Error() }

func (e *unwrittenError) Unwrap() error { return e.err }

// early reports whether, as in helm-controller, the status reports an action before its plan is
// made, and the uninstall of a deleted HelmRelease only once it is done.
func (p *pass) early() bool {
	return p.r.Compatible && !p.mayBeHeld()
}

// mayBeHeld reports whether the gate may hold plans of the HelmRelease.
func (p *pass) mayBeHeld() bool {
	return p.r.Gate != nil && (p.r.MayHold == nil || p.r.MayHold(p.hr))
}

// hold ends a pass whose plan is held. It is planned again after the interval, since
// what it does also depends on the cluster.
func (p *pass) hold(held *Held) {
	reason := held.reason()
	was := flux.Condition(p.hr.Status.Conditions, approved)
	if was == nil || was.Reason != reason || was.Message != bounded(held.Message) {
		p.tell(held.Event())
	}
	p.drop(reconciling)
	p.mark(approved, metav1.ConditionFalse, reason, held.Message)
	p.mark(ready, metav1.ConditionFalse, reason, held.Message)
	p.after = p.hr.Spec.Interval.Duration
}

// nothingHeld takes back that a plan is held: there is no longer one.
func (p *pass) nothingHeld() {
	if p.is(approved, metav1.ConditionFalse) {
		p.drop(approved)
	}
}
