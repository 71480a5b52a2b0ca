package releasestore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Held is a lock that was taken. It renews its lease until Release.
type Held struct {
	locker *Locker
	lost   chan struct{}
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	lease   *coordinationv1.Lease // as last written
	renewed time.Time             // when the request that wrote it left
	reason  error                 // why the lock was lost
}

// LostError says that a lock is no longer ours: nothing may be written any more.
type LostError struct {
	Key    release.Key
	Reason error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("lock of release %s is lost: %s", e.Key, e.Reason)
}

// Unwrap is the reason.
func (e *LostError) Unwrap() error { return e.Reason }

// hold begins to renew a lease that was written by a request sent at a time.
// The renewals outlive ctx: an operation that is cancelled still has to write
// how it ended.
func (l *Locker) hold(ctx context.Context, lease *coordinationv1.Lease, sent time.Time) *Held {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &Held{locker: l, lost: make(chan struct{}), stop: stop, done: make(chan struct{}), lease: lease, renewed: sent}
	go h.keep(ctx)
	return h
}

func unsupportedLock() *Held { return &Held{lost: make(chan struct{})} }

// Supported says whether there is a lock at all. Without permission on Leases
// there is none: Check never fails, and only the pending record and the
// comparisons of the store keep others away.
func (h *Held) Supported() bool { return h.locker != nil }

// Lost is closed when the lock is lost.
func (h *Held) Lost() <-chan struct{} { return h.lost }

// Check is to be called before every write. It is a LostError when somebody
// else has taken the lock, or when it was not renewed for three quarters of its
// duration: others may take it soon, and a write takes its time.
func (h *Held) Check() error {
	if !h.Supported() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.check()
}

func (h *Held) check() error {
	if h.reason == nil {
		duration := time.Duration(*h.lease.Spec.LeaseDurationSeconds) * time.Second
		if passed := elapsed(h.renewed, h.locker.clock.Now()); passed >= duration*3/4 {
			h.lose(fmt.Errorf("it was not renewed for %s of its %s", passed.Round(time.Second), duration))
		}
	}
	return h.reason
}

// elapsed is the longer of the time by the monotonic clock and by the wall
// clock: the former may stand still while a machine sleeps.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// lose marks the lock as lost for good; the caller holds the mutex.
func (h *Held) lose(reason error) {
	if h.reason == nil {
		h.reason = &LostError{
			Key:    release.Key{Namespace: h.lease.Namespace, Name: h.lease.Name[len(LeaseName("")):]},
			Reason: reason,
		}
		close(h.lost)
	}
}

// renewalPause is the time until a renewal is repeated that failed for a reason
// which may pass.
const renewalPause = time.Second

// keep renews the lease until the lock is released or lost. A renewal that
// fails for a passing reason is soon repeated. That the lock is lost is told in
// time, also while a renewal hangs.
func (h *Held) keep(ctx context.Context) {
	defer close(h.done)
	usual := interval(*h.lease.Spec.LeaseDurationSeconds)
	for pause := usual; ; {
		if sleep(ctx, h.locker.clock, min(pause, h.left())) != nil || h.Check() != nil {
			return
		}
		switch renewed, lost := h.renew(ctx); {
		case lost:
			return
		case renewed:
			pause = usual
		default:
			pause = min(renewalPause, usual)
		}
	}
}

// left is how long the lock still counts as held without a renewal.
func (h *Held) left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	duration := time.Duration(*h.lease.Spec.LeaseDurationSeconds) * time.Second
	return max(0, duration*3/4-elapsed(h.renewed, h.locker.clock.Now()))
}

// renew writes the lease once. Neither renewed nor lost, it may be tried again.
func (h *Held) renew(ctx context.Context) (renewed, lost bool) {
	sent := h.locker.clock.Now()
	next := h.lease.DeepCopy()
	renewTime := metav1.NewMicroTime(sent)
	next.Spec.RenewTime = &renewTime
	next.ManagedFields = nil
	ctx, cancel := context.WithTimeout(ctx, min(interval(*next.Spec.LeaseDurationSeconds), h.left()))
	defer cancel()
	written, err := h.locker.leases.Leases(next.Namespace).Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		written, err = h.reclaim(ctx, next)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.lease, h.renewed = written, sent
	case apierrors.IsNotFound(err):
		h.lose(errors.New("its Lease was deleted"))
	default:
		if taken, ok := errors.AsType[*LockedError](err); ok {
			h.lose(fmt.Errorf("%s has taken it", taken.Owner))
		}
	}
	return err == nil, h.reason != nil
}

// reclaim tells a lost answer to our own renewal, or a change of the Lease's
// metadata, from another holder.
func (h *Held) reclaim(ctx context.Context, next *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	leases := h.locker.leases.Leases(next.Namespace)
	current, err := leases.Get(ctx, next.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if holder := holderOf(current); holder.Owner != *next.Spec.HolderIdentity {
		key := release.Key{Namespace: next.Namespace, Name: next.Name}
		return nil, &LockedError{key, holder}
	}
	next.ResourceVersion = current.ResourceVersion
	return leases.Update(ctx, next, metav1.UpdateOptions{})
}

// freeTries is how often freeing a lock is tried against renewals that a run of
// the same owner sends meanwhile: unlock frees the lock of a living run.
const freeTries = 5

// freeTimeout is how long one attempt at freeing a lock may take.
const freeTimeout = 10 * time.Second

// Release ends the renewals and frees the lock, by deleting the Lease or, when
// that is not permitted, by clearing its holder; again, when the API server
// falters. A lock that was lost is left to its new holder. Releasing twice is no error.
func (h *Held) Release(ctx context.Context) error {
	if !h.Supported() {
		return nil
	}
	h.stop()
	<-h.done
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason != nil {
		return nil
	}
	err := reread(ctx, h.locker.clock, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, freeTimeout)
		defer cancel()
		err := h.free(ctx)
		for try := 1; try < freeTries && apierrors.IsConflict(err); try++ {
			err = h.free(ctx) // a renewal came in between: look whose the lock is now
		}
		return err
	})
	h.lose(errors.New("it was released"))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("release lock %s/%s: %w", h.lease.Namespace, h.lease.Name, err)
	}
	return nil
}

// free deletes the lease as it was last written, or looks at it first: the last
// renewal may have been written although its answer was never heard.
func (h *Held) free(ctx context.Context) error {
	err := h.let(ctx, h.lease)
	if !apierrors.IsConflict(err) {
		return err
	}
	current, err := h.locker.leases.Leases(h.lease.Namespace).Get(ctx, h.lease.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if holderOf(current).Owner != holderOf(h.lease).Owner {
		return nil
	}
	return h.let(ctx, current)
}

// let deletes the lease, or clears its holder where deleting is not permitted.
func (h *Held) let(ctx context.Context, seen *coordinationv1.Lease) error {
	err := h.delete(ctx, seen)
	if !apierrors.IsForbidden(err) {
		return err
	}
	next := seen.DeepCopy()
	next.Spec.HolderIdentity = nil
	next.ManagedFields = nil
	_, err = h.locker.leases.Leases(seen.Namespace).Update(ctx, next, metav1.UpdateOptions{})
	return err
}

// delete deletes the lease if it is still as seen.
func (h *Held) delete(ctx context.Context, seen *coordinationv1.Lease) error {
	return h.locker.leases.Leases(seen.Namespace).Delete(ctx, seen.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion},
	})
}
