package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

const (
	// signOfLife is how long a lock is watched for a renewal: slightly more than the time between
	// two renewals.
	signOfLife = releasestore.DefaultDuration/6 + time.Second
	// expiry is how long a dead holder's lock can block others: its duration and a bit more.
	expiry = releasestore.DefaultDuration * 3 / 2
)

// lockKey returns the release's key with the namespace of its lock, which is the namespace of its
// records and may differ from that of the release.
func (e *Engine) lockKey(key release.Key) release.Key {
	if e.Store == nil {
		return key
	}
	return release.Key{Namespace: e.Store.Namespace(key.Namespace), Name: key.Name}
}

// FreeLock frees the release's lock if holder holds it. Errors are those of Locker.Free.
func (e *Engine) FreeLock(ctx context.Context, key release.Key, holder releasestore.Identity) error {
	return e.Locker.Free(ctx, e.lockKey(key), holder)
}

// lock takes the release's lock. It fails if another run holds the lock for longer than o.Wait. If
// the holder turns out to be dead, it waits until the lock expires.
func (e *Engine) lock(ctx context.Context, key release.Key, o releasestore.LockOptions) (*releasestore.HeldLock, error) {
	held, err := e.Locker.Lock(ctx, e.lockKey(key), e.Identity, o)
	var locked *releasestore.LockedError
	if !errors.As(err, &locked) || o.Wait > 0 && locked.Unchanged < signOfLife {
		return held, err
	}
	silent, lookErr := e.leaseAbandoned(ctx, key, locked.Holder)
	if lookErr != nil {
		return nil, lookErr
	}
	if !silent {
		return nil, err
	}
	e.observe(apply.Event{Type: apply.Note, Message: fmt.Sprintf("%s no longer renews its lock; waiting until it expires", locked.Identity.Text())})
	o.Wait = expiry
	return e.Locker.Lock(ctx, e.lockKey(key), e.Identity, o)
}

// Holder returns the holder of the release's lock, as Locker.Inspect does. Without
// permission to read Leases, held is false and the holder Unread.
func (e *Engine) Holder(ctx context.Context, key release.Key) (holder releasestore.Holder, held bool, err error) {
	holder, held, err = e.Locker.Inspect(ctx, e.lockKey(key))
	if apierrors.IsForbidden(err) {
		if err = e.notPermitted(ctx, err, plan.LockReading(e.lockKey(key).Namespace, releasestore.LeaseName(key.Name))); err == nil {
			holder.Unread = true
		}
	}
	return holder, held, err
}

// leaseAbandoned waits until the holder should have renewed its lock, and reports whether it failed
// to. A holder that has freed the lock or lost it to another run does not count.
func (e *Engine) leaseAbandoned(ctx context.Context, key release.Key, seen releasestore.Holder) (bool, error) {
	if err := retry.Pause(ctx, signOfLife-seen.Unchanged); err != nil {
		return false, fmt.Errorf("watch the lock of %s: %w", key, err)
	}
	now, _, err := e.Holder(ctx, key)
	if err != nil {
		return false, err
	}
	return now.Identity == seen.Identity && now.Unchanged >= signOfLife, nil
}

// inspectPending finds out about a pending revision: which tool recorded it, how old it is, and
// whether its run is still at work. If another run holds the lock, this takes a while, so the
// history is read again.
func (e *Engine) inspectPending(ctx context.Context, key release.Key, g *gathered) error {
	last := g.history.Last()
	if last == nil || !last.Info.Status.Pending() {
		return nil
	}
	holder, held, err := e.Holder(ctx, key)
	if err != nil {
		return err
	}
	if held && holder.Identity != e.Identity {
		silent, err := e.leaseAbandoned(ctx, key, holder)
		if err != nil {
			return err
		}
		if g.history, g.corrupt, err = e.records(ctx, key, g.also...); err != nil {
			return err
		}
		if last = g.history.Last(); last == nil || !last.Info.Status.Pending() {
			return nil
		}
		if !silent {
			g.pending.Holder = holder.Identity.Text()
		}
	}
	working := g.pending.Holder
	g.pending = PendingOf(last, holder.Unread)
	g.pending.Holder = working
	if since := last.Info.LastDeployed; !since.IsZero() {
		g.pending.Age = plan.Age(e.Now().Sub(since))
	}
	return nil
}

// PlanWhenUnlocked makes a plan. If another run is at work on the release, it waits for it, for up
// to lock.Wait, and plans again. It returns a *releasestore.LockedError if the other run takes
// longer than that.
func (e *Engine) PlanWhenUnlocked(ctx context.Context, lock releasestore.LockOptions, prepare Planner) (*plan.Plan, error) {
	deadline := e.Now().Add(lock.Wait)
	for again := false; ; again = true {
		p, err := prepare(ctx)
		if err != nil || !p.Blocked() || !p.FoundPending {
			return p, err
		}
		waited, err := e.waitForLock(ctx, p.Release, deadline)
		if err == nil && !waited && p.PendingElsewhere {
			waited, err = e.waitForPending(ctx, p.Release, deadline)
		}
		if err != nil {
			return nil, err
		}
		if again && !waited {
			return p, nil // the lock is not the reason
		}
	}
}

// waitForLock returns when no other run holds the release's lock, or when its holder no longer
// renews it; waited reports whether another run was at work.
func (e *Engine) waitForLock(ctx context.Context, key release.Key, deadline time.Time) (waited bool, err error) {
	for ; ; waited = true {
		holder, held, err := e.Holder(ctx, key)
		switch {
		case err != nil:
			return waited, err
		case !held || holder.Identity == e.Identity || holder.Unchanged >= signOfLife:
			return waited, nil
		case !e.Now().Before(deadline):
			return waited, &releasestore.LockedError{Key: key, Holder: holder}
		}
		if err := retry.Pause(ctx, time.Second); err != nil {
			return waited, fmt.Errorf("wait for the lock of %s: %w", key, err)
		}
	}
}

// waitForPending returns when the newest revision is no longer pending (ended is true), or at the
// deadline. It is for runs without a lock, such as Helm's.
func (e *Engine) waitForPending(ctx context.Context, key release.Key, deadline time.Time) (ended bool, err error) {
	if e.Now().Before(deadline) {
		e.observe(apply.Event{Type: apply.Note, Message: fmt.Sprintf("another operation is recorded as pending; waiting until %s for it to end", deadline.Format(time.TimeOnly))})
	}
	for e.Now().Before(deadline) {
		history, err := e.history(ctx, key)
		if err != nil {
			return false, err
		}
		if last := history.Last(); last == nil || !last.Info.Status.Pending() {
			return true, nil
		}
		if err := retry.Pause(ctx, time.Second); err != nil {
			return false, fmt.Errorf("wait for the operation under way on %s: %w", key, err)
		}
	}
	return false, nil
}
