package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

// actionKind is the kind of an action; a pass has at most one action of each.
type actionKind int

const (
	releasing actionKind = iota
	testing
	remediating
	unlocking
	correcting
)

// action says how an action of a decision is carried out.
type action struct {
	// name is the action's name in helm-controller.
	name    string
	kind    actionKind
	timeout time.Duration
	run     func(context.Context, decision.Decision) error
}

// action returns how a is carried out; the zero action where there is nothing to do.
func (p *pass) action(a decision.Action) action {
	hr := p.hr
	switch a {
	case decision.Install:
		return action{"install", releasing, hr.TimeoutOf(install(hr).Timeout), p.install}
	case decision.Upgrade:
		return action{"upgrade", releasing, hr.TimeoutOf(upgrade(hr).Timeout), p.upgrade}
	case decision.Test:
		return action{"test", testing, hr.TimeoutOf(hr.Tests().Timeout), p.test}
	case decision.RollBack:
		return action{"rollback", remediating, hr.TimeoutOf(rollback(hr).Timeout), p.rollBack}
	case decision.Uninstall:
		return action{"uninstall", remediating, hr.TimeoutOf(uninstall(hr).Timeout), p.remedyByUninstall}
	case decision.Resume:
		return p.resuming()
	case decision.Unlock:
		return action{"unlock", unlocking, hr.Timeout(), p.unlock}
	case decision.CorrectDrift:
		return action{"correct cluster drift", correcting, hr.Timeout(), p.correctDrift}
	case decision.Nothing, decision.Stall, decision.Wait, decision.Fail, decision.Unknown:
	}
	return action{}
}

// release is helm-controller's loop: decide, act, and decide again, with at most one
// action of each kind in a pass, and none after a remediation.
func (p *pass) release(ctx context.Context) error {
	var done [correcting + 1]bool
	for {
		if err := context.Cause(ctx); errors.Is(err, ErrSuperseded) {
			p.nextTry()
			return nil
		} else if err != nil {
			return fmt.Errorf("the pass was ended: %w", err)
		}
		d, err := p.decide(ctx)
		if err != nil {
			return err
		}
		p.prepare(d)
		if d.State == decision.Drifted {
			p.noteDrift()
		}
		switch d.Action {
		case decision.Fail:
			return p.stateError(d.Because[0])
		case decision.Stall:
			p.exhausted(d)
			return nil
		case decision.Nothing, decision.Unknown, decision.Wait:
			p.inSync()
			return nil
		case decision.Install, decision.Upgrade, decision.Test, decision.RollBack, decision.Uninstall, decision.Unlock, decision.Resume, decision.CorrectDrift:
		}
		a := p.action(d.Action)
		if done[a.kind] {
			p.later()
			return nil
		}
		done[a.kind] = true
		if err := p.perform(ctx, a, d); err != nil {
			return p.failed(err)
		}
		if a.kind == remediating && !errors.Is(context.Cause(ctx), ErrSuperseded) {
			p.remedied()
			return nil
		}
	}
}

// perform announces an action and runs it.
func (p *pass) perform(ctx context.Context, a action, d decision.Decision) error {
	message := running(a)
	p.progress(progressing, message)
	if a.kind == releasing {
		if d.Action != decision.Resume {
			s := &p.hr.Status
			s.LastAttemptedReleaseAction, s.LastAttemptedGeneration = flux.Attempt(a.name), p.hr.Metadata.Generation
			p.rendering()
		}
		p.mark(ready, metav1.ConditionUnknown, progressing, message)
	}
	plans := a.kind == releasing || a.kind == testing || a.kind == remediating
	if a.kind == correcting {
		p.planned(p.drift.plan)
	}
	if !plans || p.early() { // otherwise once there is a plan
		if err := p.write(ctx); err != nil {
			return err
		}
	}
	p.performed = true
	err := a.run(ctx, d)
	call(p.in.Waited)
	if !left(err) {
		p.unmade()
	}
	if err != nil {
		return err
	}
	if a.kind == remediating || errors.Is(context.Cause(ctx), ErrSuperseded) {
		return nil
	}
	if err := p.write(ctx); err != nil {
		return err
	}
	p.readRecords(ctx)
	return nil
}

// failed ends a pass whose action has written no record.
func (p *pass) failed(err error) error {
	if left(err) {
		return err
	}
	if locked(err) {
		p.awaitLock(err)
		return nil
	}
	if held := (*Held)(nil); errors.As(err, &held) {
		p.deferred = true
		p.hold(held)
		return nil
	}
	if retry := p.hr.ActiveRetry(); retry != nil {
		p.retryAfter(*retry)
		return nil
	}
	if p.is(ready, metav1.ConditionTrue) {
		p.mark(ready, metav1.ConditionFalse, "ReconcileError", err.Error())
	}
	return err
}

// retryAfter ends a pass with the pause of RetryOnFailure.
func (p *pass) retryAfter(s flux.Strategy) {
	p.progress(progressingWithRetry, "retrying after "+s.Interval().String())
	p.after, p.observed = s.Interval(), true
}

// later ends a pass that has already done an action of the kind.
func (p *pass) later() {
	if retry := p.hr.ActiveRetry(); retry != nil {
		p.retryAfter(*retry)
		return
	}
	if remedy, active := p.hr.ActiveRemedy(); !active || !remedy.Exhausted() {
		p.nextTry()
		return
	}
	p.drop(reconciling)
	p.after, p.observed = p.hr.Spec.Interval.Duration, true
}

// nextTry asks for another pass soon.
func (p *pass) nextTry() {
	why := ""
	if c := flux.Condition(p.hr.Status.Conditions, ready); c != nil {
		why = c.Message
	}
	p.progress(progressingWithRetry, why)
	p.again = true
}

// remedied ends a pass after a remediation.
func (p *pass) remedied() {
	if retry := p.hr.ActiveRetry(); retry != nil {
		p.retryAfter(*retry)
		return
	}
	remedy, active := p.hr.ActiveRemedy()
	afterUpgrade := p.hr.Status.LastAttemptedReleaseAction == flux.AttemptUpgrade && remedy.Strategy == flux.RemedyUninstall
	if !active || !remedy.Exhausted() || afterUpgrade {
		p.nextTry()
		return
	}
	p.stall("RetriesExceeded", p.attempts())
	p.observed = true
}

// attempts returns helm-controller's message about a release whose retries are used up.
func (p *pass) attempts() string {
	remedy, _ := p.hr.ActiveRemedy()
	return fmt.Sprintf("Failed to %s after %d attempt(s)", p.hr.Status.LastAttemptedReleaseAction, remedy.Failures)
}

// exhausted ends a pass when no retries are left.
func (p *pass) exhausted(d decision.Decision) {
	p.observed = true
	p.nothingHeld()
	if d.Reason == decision.ReasonMissingRollbackTarget {
		message := "Failed to perform remediation: missing target release for rollback: cannot remediate failed release"
		p.stall(d.Reason, message)
		if !p.r.Compatible { // helm-controller leaves Ready as it is
			p.mark(ready, metav1.ConditionFalse, d.Reason, message)
		}
		return
	}
	p.stall("RetriesExceeded", p.attempts())
}

// stateError reports why the state of the release can't be determined.
func (p *pass) stateError(why string) error {
	message := p.masked(why)
	p.mark(ready, metav1.ConditionFalse, "StateError", "Could not determine release state: "+message)
	return errors.New("cannot determine release state: " + message)
}

// prepare does to the status what helm-controller does once it knows the state.
func (p *pass) prepare(d decision.Decision) {
	s := &p.hr.Status
	p.handled(flux.AnnotationForceAt, &s.LastHandledForceAt)
	remedy, active := p.hr.ActiveRemedy()
	if !active {
		remedy.IgnoreTests = p.hr.Tests().IgnoreFailures
	}
	retry := p.hr.ActiveRetry() != nil
	switch {
	case d.State == decision.Unmanaged:
		s.History = nil
	case d.State == decision.Untested:
		p.accepted()
	case d.State == decision.InSync, d.State == decision.Failed && (retry || d.Action == decision.RollBack || d.Action == decision.Uninstall):
		s.History = truncate(s.Snapshots(), remedy.IgnoreTests, retry)
	}
}

// inSync ends a pass with nothing left to do.
func (p *pass) inSync() {
	p.observed, p.after = true, p.hr.Spec.Interval.Duration
	p.nothingHeld()
	p.rendered()
	p.accepted()
	history := p.hr.Status.Snapshots()
	if c := flux.Condition(p.hr.Status.Conditions, released); c != nil && (c.Status != metav1.ConditionTrue || !p.is(ready, metav1.ConditionTrue)) {
		switch c.Reason {
		case "InstallFailed":
			p.mark(released, metav1.ConditionTrue, "InstallSucceeded", succeeded("install", history[0]))
		case "UpgradeFailed":
			p.mark(released, metav1.ConditionTrue, "UpgradeSucceeded", succeeded("upgrade", history[0]))
		}
	}
	if p.hr.DriftMode() != "" && p.input.Drift == decision.DriftNone {
		p.noDrift()
	}
	p.drop(reconciling)
	p.summarize()
}

// accepted makes a release that was rolled back, and is what the HelmRelease asks for by now, a
// successful upgrade.
func (p *pass) accepted() {
	if p.is(remediated, metav1.ConditionTrue) {
		p.drop(remediated)
		p.mark(released, metav1.ConditionTrue, "UpgradeSucceeded", succeeded("upgrade", p.hr.Status.Snapshots()[0]))
	}
}
