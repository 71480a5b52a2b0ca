package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

func revision(version int) func(*release.Revision) bool {
	return func(r *release.Revision) bool { return r.Version == version }
}

// unlock records a revision that a run has left pending as failed, unless that run still
// holds the lock.
func (p *pass) unlock(ctx context.Context, _ decision.Decision) error {
	defer p.summarize()
	was := p.newest()
	failed, err := p.engine.FailPending(ctx, p.key(), releasestore.LockOptions{Wait: lockWait}, func(s release.Status) string {
		return fmt.Sprintf("Release unlocked from stale '%s' state", s)
	})
	if err != nil {
		return p.safe(p.ended(err))
	}
	if failed == nil {
		return nil // somebody else was faster
	}
	s := flux.Snapshot{}
	if i := slices.IndexFunc(p.hr.Status.History, func(s flux.Snapshot) bool { return isOf(s, failed) }); i >= 0 {
		s = p.hr.Status.History[i]
	}
	next, err := snapshot(failed, s.Action, s.OCIDigest)
	if err != nil {
		return err
	}
	for i := range p.hr.Status.History {
		if isOf(p.hr.Status.History[i], failed) {
			p.hr.Status.History[i] = next
		}
	}
	message := fmt.Sprintf("Unlocked Helm release %s with chart %s in %s state", full(next), versionedChart(next), was.Info.Status)
	p.mark(released, metav1.ConditionFalse, "PendingRelease", message)
	p.tellOf(next, false, "PendingRelease", message)
	return nil
}

// locked reports whether an action was not begun because another run holds the release's lock: nothing
// has failed.
func locked(err error) bool {
	_, is := errors.AsType[*releasestore.LockedError](err)
	return is
}

// awaitLock ends a pass whose action was not begun because of that.
func (p *pass) awaitLock(why error) {
	p.deferred, p.performed = true, false
	p.progress(progressingWithRetry, why.Error())
	p.after, p.fixed = p.r.dependencyInterval(), true
}
