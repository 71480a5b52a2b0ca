package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// RolledBackError says that an apply failed, and how its rollback ended.
type RolledBackError struct {
	Release release.Key
	// Cause is why the apply failed, Rollback why the rollback failed, or nil
	// if it succeeded.
	Cause    error
	Rollback error
	// To is the revision whose manifest was to be restored; 0 if there was none and
	// the release was to be uninstalled.
	To int
	// Back is the outcome of the rollback; it is empty if the rollback could not be planned.
	Back apply.Outcome
	// NotUndone is what the rollback has left as it is, as the plan had announced.
	NotUndone []plan.Lasting
}

func (e *RolledBackError) Error() string {
	if e.Rollback != nil {
		return fmt.Sprintf("%v\nthe rollback failed, too: %v", e.Cause, e.Rollback)
	}
	text := fmt.Sprintf("%v\nrolled back to revision %d", e.Cause, e.To)
	switch {
	case len(e.Back.Remaining) > 0:
		text = fmt.Sprintf("%v\nthe release was uninstalled again, but not everything is gone yet:\n  %s", e.Cause, strings.Join(e.Back.Remaining, "\n  "))
	case e.To == 0:
		text = fmt.Sprintf("%v\nthe release was uninstalled again", e.Cause)
	case e.Back.Revision != nil:
		text += fmt.Sprintf(" (as revision %d)", e.Back.Revision.Version)
	}
	switch {
	case len(e.NotUndone) == 0:
		return text
	case len(e.Back.Remaining) > 0:
		return text + "\nnot undone:" + listed(e.NotUndone)
	}
	return text + ", except for" + listed(e.NotUndone)
}

// listed returns a line for each of the effects that last.
func listed(lasting []plan.Lasting) string {
	text := ""
	for _, l := range lasting {
		text += fmt.Sprintf("\n  %s: %s", l.Object, l.What)
	}
	return text
}

// Unwrap returns Cause and Rollback.
func (e *RolledBackError) Unwrap() []error { return []error{e.Cause, e.Rollback} }

// ErrNoWayBack says that a failed atomic upgrade was not rolled back, because no earlier revision has
// succeeded. Helm's text is "unable to find a previously successful release" (4.3.1,
// pkg/action/upgrade.go, failRelease).
var ErrNoWayBack = errors.New("nothing was rolled back: there is no successful revision to roll back to")

// Planner makes a plan for the present state of the cluster.
type Planner func(context.Context) (*plan.Plan, error)

// PlanAndApply plans and applies in one go. The plan is made without the lock, so a plan that can't
// be applied leaves no trace; if the release changes before the lock is taken, it plans again. see
// is called with each plan before it is applied and can stop the run by returning an error.
func (e *Engine) PlanAndApply(ctx context.Context, lock releasestore.LockOptions, prepare Planner, see func(*plan.Plan) error) (*plan.Plan, apply.Outcome, error) {
	p, err := e.PlanWhenUnlocked(ctx, lock, prepare)
	if err != nil {
		return nil, apply.Outcome{}, err
	}
	if err := see(p); err != nil {
		return p, apply.Outcome{}, err
	}
	var outcome apply.Outcome
	lock.Unusable = p.NoLock
	err = e.Locked(ctx, p.Release, lock, func(ctx context.Context, held apply.Lock) error {
		history, err := e.history(ctx, p.Release)
		if err != nil {
			return err
		}
		if plan.NewestOf(history) == p.Newest {
			if outcome, err = e.applyOrRollBack(ctx, p, history, held); !errors.Is(err, apply.ErrChanged) {
				return err
			}
		}
		next, err := prepare(ctx) // the release has changed since the plan was made
		if err != nil {
			return err // with the plan of which outcome is
		}
		p = next
		if err := see(p); err != nil {
			return err
		}
		outcome, err = e.applyOrRollBack(ctx, p, nil, held) // it may have changed while prepare inspected a dead run
		return err
	})
	return p, outcome, err
}

// Locked runs work while this engine holds the release's lock. If its namespace does not exist, or is
// terminating and has no Lease, nobody else gets the lock either, and work takes it before it writes a
// pending record. In a terminating one, run carries out nothing but an uninstall. It
// returns a *releasestore.LockedError if another run holds the lock, and the errors of work.
func (e *Engine) Locked(ctx context.Context, key release.Key, o releasestore.LockOptions, work func(ctx context.Context, lock apply.Lock) error) error {
	held, err := e.lockIfPermitted(ctx, key, o)
	if err != nil {
		terminating := apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
		if there := e.lockKey(key).Namespace; cluster.NamespaceMissing(err, there) || terminating {
			late := newLateLock(there, func(ctx context.Context) (*releasestore.HeldLock, error) { return e.lockIfPermitted(ctx, key, o) })
			if terminating {
				late.refused = err
			}
			defer late.release(context.WithoutCancel(ctx))
			return work(ctx, late) // the plan creates the namespace, or reports that it can't
		}
		return err
	}
	defer func() { _ = held.Release(context.WithoutCancel(ctx)) }()
	return work(ctx, held)
}

// applyOrRollBack carries out a plan that was checked under the lock; history is the stored
// history, or nil to read it. If the run fails and the plan is atomic, it plans and applies the
// rollback, or joins ErrNoWayBack to the error if the plan has none.
func (e *Engine) applyOrRollBack(ctx context.Context, p *plan.Plan, history release.History, lock apply.Lock) (apply.Outcome, error) {
	forward, end := withinOverall(ctx, p.Options.OverallTimeout)
	defer end()
	outcome, err := e.run(forward, p, history, lock)
	if err == nil || p.OnFailure == nil || !p.Options.Atomic || !outcome.Recorded {
		return outcome, err
	}
	if errors.Is(err, apply.ErrLeave) || lock != nil && lock.Check() != nil {
		return outcome, err // the next run, or the lock's new holder, takes it from here
	}
	if p.OnFailure.Rollback == nil {
		return outcome, errors.Join(err, ErrNoWayBack)
	}
	if ctx.Err() != nil { // a cancelled run is rolled back all the same; that can't be cancelled
		ctx = context.WithoutCancel(ctx)
	}
	return outcome, e.rollBack(ctx, p, lock, err)
}

func (e *Engine) run(ctx context.Context, p *plan.Plan, history release.History, lock apply.Lock) (_ apply.Outcome, err error) {
	if history == nil {
		if history, err = e.history(ctx, p.Release); err != nil {
			return apply.Outcome{}, err
		}
	}
	if err := e.checkLate(lock, p); err != nil {
		return apply.Outcome{}, err
	}
	return apply.Run(ctx, p, apply.Env{
		Cluster: e.Cluster, Store: e.Store, Observer: e.Observer, History: history,
		Now: e.Now, Sleep: retry.Pause, Lock: lock, Readiness: e.Readiness,
	})
}

// withinOverall returns a context that also ends when the run takes longer than the limit.
func withinOverall(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has taken longer than %s (--overall-timeout)", limit))
}

// rollBack gathers, decides and acts once more, with the last successful revision as the target. A
// failed install is uninstalled.
func (e *Engine) rollBack(ctx context.Context, failed *plan.Plan, lock apply.Lock, cause error) error {
	result := &RolledBackError{Release: failed.Release, Cause: cause, To: failed.OnFailure.Rollback.To}
	p, history, err := e.planRollbackOf(ctx, failed, lock)
	if err == nil {
		err = p.WhyBlocked()
	}
	if err == nil {
		e.observe(apply.Event{Type: apply.RollbackStarted, Cause: cause, Next: next(p), Plan: p})
		result.Back, err = e.run(ctx, p, history, lock)
	}
	if err == nil {
		result.NotUndone = p.NotUndone
		err = unannounced(failed, p)
	}
	result.Rollback = err
	return result
}

// unannounced returns an error if a rollback has left an object as it is of which the failed plan had not
// said so.
func unannounced(failed, back *plan.Plan) error {
	for _, left := range back.NotUndone {
		if !slices.ContainsFunc(failed.OnFailure.Rollback.Lasting, func(l plan.Lasting) bool { return l.Object == left.Object }) {
			return errors.New("everything is changed back but" + listed(back.NotUndone))
		}
	}
	return nil
}

// The rollback of a failed run is planned again for about as long as a lock outlasts an outage (see
// releasestore, outages), since nobody else undoes what the run has done.
const (
	replanFor   = 2 * time.Minute
	replanPause = 2 * time.Second
)

// planRollbackOf plans the rollback that the failed plan announced, and returns the history that it starts
// from. It plans again while the error is transient, or an API can't be discovered, and the lock is held, for
// up to replanFor.
func (e *Engine) planRollbackOf(ctx context.Context, failed *plan.Plan, lock apply.Lock) (*plan.Plan, release.History, error) {
	deadline := e.Now().Add(replanFor)
	for {
		p, history, err := e.planRollbackOnce(ctx, failed)
		why := ""
		switch {
		case err == nil:
			why = p.Outage
		case apply.Passes(err):
			why = err.Error()
		}
		if why == "" || !e.Now().Before(deadline) || lock != nil && lock.Check() != nil {
			return p, history, err
		}
		e.observe(apply.Event{Type: apply.Note, Message: "the rollback is planned again: " + why})
		if retry.Pause(ctx, replanPause) != nil {
			return p, history, err
		}
	}
}

// planRollbackOnce is one attempt of planRollbackOf.
func (e *Engine) planRollbackOnce(ctx context.Context, failed *plan.Plan) (*plan.Plan, release.History, error) {
	in, err := e.rollbackInput(ctx, failed)
	if err != nil {
		return nil, nil, err
	}
	in.Undoing, in.Recreated, in.Secrets = true, failed.Recreated(), failed.Secrets
	p, err := e.decide(ctx, in)
	return p, in.History, err
}

func (e *Engine) rollbackInput(ctx context.Context, failed *plan.Plan) (plan.Input, error) {
	options := failed.RollbackOptions()
	if to := failed.OnFailure.Rollback.To; to != 0 {
		return e.rollback(ctx, failed.Release, Rollback{To: to, ServerSide: ServerSideAuto, Options: options})
	}
	return e.uninstall(ctx, failed.Release, Uninstall{Options: options})
}

// next describes what the rollback plan does, for its announcement.
func next(p *plan.Plan) string {
	if p.Operation == plan.Uninstall {
		return "uninstalling what was installed"
	}
	return fmt.Sprintf("rolling back to revision %d", p.RollbackTo)
}

func (e *Engine) observe(event apply.Event) {
	if e.Observer != nil {
		event.Time = e.Now()
		e.Observer.Observe(event)
	}
}
