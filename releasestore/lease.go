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
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// HeldLock is a lock that was taken. It renews its lease until Release.
type HeldLock struct {
	locker *Locker
	lost   chan struct{}
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	lease   *coordinationv1.Lease // as last written
	renewed time.Time             // when the request that wrote it was sent
	sure    chan struct{}         // closed when the lock expires or is lost; a new one after a renewal
	doubt   chan struct{}         // while it has expired: closed when it is renewed or lost; otherwise nil
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

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Reason }

// hold starts the renewals of a Lease that was written by a request sent at the given time. They
// continue after ctx has ended: a cancelled operation still has to record how it ended.
func (l *Locker) hold(ctx context.Context, lease *coordinationv1.Lease, sent time.Time) *HeldLock {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &HeldLock{locker: l, lost: make(chan struct{}), sure: make(chan struct{}), stop: stop, done: make(chan struct{}), lease: lease, renewed: sent}
	go h.renewLoop(ctx)
	return h
}

func unsupportedLock() *HeldLock { return &HeldLock{lost: make(chan struct{})} }

// Supported reports whether there is a lock at all. With LockOptions.Unusable there is none: Check
// never fails, and only the pending record and the store's compare-and-swap keep other runs away.
func (h *HeldLock) Supported() bool { return h.locker != nil }

// Take does nothing: the lock is held from the start.
func (h *HeldLock) Take(context.Context) error { return nil }

// Lost returns a channel that is closed when the lock is lost.
func (h *HeldLock) Lost() <-chan struct{} { return h.lost }

// Hold must be called before every write. It waits while the lock has expired, since it was not renewed
// for three quarters of its duration: others may take it soon, and a write takes time. A renewal that
// succeeds after that proves that nobody has taken it meanwhile, as it names the resourceVersion of the
// Lease. expired is closed when the lock expires again: what is then under way must be cancelled. Errors:
// a LostError, or the cause of ctx.
//
// The time counts from when the last successful renewal was sent. Other runs count from later,
// since they first have to read what it wrote, and wait for the full duration by their own clocks
// (see Locker.unchanged). So clocks need not agree on the time; their speeds only have to agree
// within a quarter.
func (h *HeldLock) Hold(ctx context.Context) (expired <-chan struct{}, err error) {
	if !h.Supported() {
		return nil, nil
	}
	for {
		sure, doubt, reason := h.state()
		if doubt == nil || reason != nil {
			return sure, reason
		}
		select {
		case <-doubt:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Check returns a LostError when the lock is lost: another run has taken it, it was freed, or it could not
// be renewed for outages times its duration.
func (h *HeldLock) Check() error {
	if !h.Supported() {
		return nil
	}
	_, _, reason := h.state()
	return reason
}

func (h *HeldLock) state() (sure, doubt <-chan struct{}, reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason == nil && h.doubt == nil && h.left() == 0 {
		close(h.sure)
		h.doubt = make(chan struct{})
	}
	return h.sure, h.doubt, h.reason
}

// outages is how many durations of a lock may pass without a renewal until it counts as lost: longer than
// an API server takes to restart, or a VPN to connect again.
const outages = 4

// elapsed returns how much time a holder has to assume has passed since t: the larger of the times
// by its monotonic clock, which may have stood still while the machine was suspended, and by its
// wall clock, which may have been set back. If the wall clock is set forward, a lock that could have
// been renewed is lost, which is safe. Only a machine whose clocks both stand still, such as a
// paused virtual machine, does not notice before its next renewal.
func elapsed(clock Clock, t time.Time) time.Duration {
	return max(clock.Since(t), clock.Now().Round(0).Sub(t.Round(0)))
}

// lose marks the lock as lost for good; the caller holds the mutex.
func (h *HeldLock) lose(reason error) {
	if h.reason != nil {
		return
	}
	h.reason = &LostError{Key: h.key(), Reason: reason}
	if h.doubt != nil {
		close(h.doubt)
	} else {
		close(h.sure)
	}
	close(h.lost)
}

// key returns the release that the lock is for.
func (h *HeldLock) key() release.Key {
	return release.Key{Namespace: h.lease.Namespace, Name: h.lease.Name[len(LeaseName("")):]}
}

// renewalPause is the pause before a renewal that failed with a transient error is retried.
const renewalPause = time.Second

// renewLoop renews the Lease until the lock is released or lost. A renewal that fails with a
// transient error is soon retried, also after the lock has expired, which is noticed in time.
func (h *HeldLock) renewLoop(ctx context.Context) {
	defer close(h.done)
	usual := interval(*h.lease.Spec.LeaseDurationSeconds)
	for pause := usual; ; {
		if sleep(ctx, h.locker.clock, min(pause, h.untilExpiry(pause))) != nil {
			return
		}
		_ = h.Check() // marks the lock as expired, as below: a renewal may stall until then
		renewed, lost := h.renew(ctx)
		_ = h.Check()
		switch {
		case lost:
			return
		case renewed:
			pause = usual
		default:
			pause = min(renewalPause, usual)
		}
	}
}

// untilExpiry returns how long the lock counts as held without another renewal; once it has expired, otherwise.
func (h *HeldLock) untilExpiry(otherwise time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if left := h.left(); left > 0 {
		return left
	}
	return otherwise
}

// left returns how long the lock counts as held without another renewal; the caller holds the mutex.
func (h *HeldLock) left() time.Duration {
	return max(0, h.duration()*3/4-elapsed(h.locker.clock, h.renewed))
}

func (h *HeldLock) duration() time.Duration {
	return time.Duration(*h.lease.Spec.LeaseDurationSeconds) * time.Second
}

// renew writes the Lease once. If it returns neither renewed nor lost, it may be tried again.
func (h *HeldLock) renew(ctx context.Context) (renewed, lost bool) {
	sent := h.locker.clock.Now()
	next := h.lease.DeepCopy()
	renewTime := metav1.NewMicroTime(sent)
	next.Spec.RenewTime = &renewTime
	next.ManagedFields = nil
	usual := interval(*next.Spec.LeaseDurationSeconds)
	ctx, cancel := context.WithTimeout(ctx, min(usual, h.untilExpiry(usual)))
	defer cancel()
	written, err := h.locker.leases.Leases(next.Namespace).Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		written, err = h.reclaim(ctx, next)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch taken, isTaken := errors.AsType[*LockedError](err); {
	case err == nil:
		h.extend(written, sent)
	case retry.Missing(err):
		h.lose(errors.New("its Lease was deleted"))
	case isTaken:
		h.lose(errors.New(takenBy(taken.Identity)))
	default:
		if passed := h.locker.clock.Since(h.renewed); passed >= outages*h.duration() {
			h.lose(fmt.Errorf("it could not be renewed for %s: %w", passed.Round(time.Second), err))
		}
	}
	return err == nil, h.reason != nil
}

// extend notes that the Lease was renewed by a request that was sent at the given time; the caller holds the mutex.
func (h *HeldLock) extend(lease *coordinationv1.Lease, sent time.Time) {
	h.lease, h.renewed = lease, sent
	if h.doubt != nil && h.reason == nil {
		close(h.doubt)
		h.doubt, h.sure = nil, make(chan struct{})
	}
}

func takenBy(holder Identity) string {
	if holder == "" {
		return "it was freed by someone else"
	}
	return holder.Text() + " has taken it"
}

// reclaim handles a conflict during a renewal. It repeats the renewal if the holder is still this
// run: then a response was lost or only metadata has changed.
func (h *HeldLock) reclaim(ctx context.Context, next *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	leases := h.locker.leases.Leases(next.Namespace)
	current, err := leases.Get(ctx, next.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if holder := h.locker.holder(current); holder.Identity != identityOf(next) {
		return nil, &LockedError{h.key(), holder}
	}
	next.ResourceVersion = current.ResourceVersion
	return leases.Update(ctx, next, metav1.UpdateOptions{})
}
