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

// HeldLock is a lock that was taken. It renews its lease until Release.
type HeldLock struct {
	locker *Locker
	lost   chan struct{}
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	lease   *coordinationv1.Lease // as last written
	renewed time.Time             // when the request that wrote it was sent
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
	h := &HeldLock{locker: l, lost: make(chan struct{}), stop: stop, done: make(chan struct{}), lease: lease, renewed: sent}
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

// Check must be called before every write. It returns a LostError when another run
// has taken the lock, or when it was not renewed for three quarters of its
// duration: others may take it soon, and a write takes time.
//
// The time counts from when the last successful renewal was sent. Other runs count from later,
// since they first have to read what it wrote, and wait for the full duration by their own clocks
// (see Locker.unchanged). So clocks need not agree on the time; their speeds only have to agree
// within a quarter.
func (h *HeldLock) Check() error {
	if !h.Supported() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.check()
}

func (h *HeldLock) check() error {
	if h.reason == nil {
		duration := time.Duration(*h.lease.Spec.LeaseDurationSeconds) * time.Second
		if passed := elapsed(h.locker.clock, h.renewed); passed >= duration*3/4 {
			h.lose(fmt.Errorf("it was not renewed for %s of its %s", passed.Round(time.Second), duration))
		}
	}
	return h.reason
}

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
	if h.reason == nil {
		h.reason = &LostError{Key: h.key(), Reason: reason}
		close(h.lost)
	}
}

// key returns the release that the lock is for.
func (h *HeldLock) key() release.Key {
	return release.Key{Namespace: h.lease.Namespace, Name: h.lease.Name[len(LeaseName("")):]}
}

// renewalPause is the pause before a renewal that failed with a transient error is retried.
const renewalPause = time.Second

// renewLoop renews the Lease until the lock is released or lost. A renewal that fails with a
// transient error is soon retried. The loss of the lock is noticed in time even while one hangs.
func (h *HeldLock) renewLoop(ctx context.Context) {
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

// left returns how long the lock counts as held without another renewal.
func (h *HeldLock) left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	duration := time.Duration(*h.lease.Spec.LeaseDurationSeconds) * time.Second
	return max(0, duration*3/4-elapsed(h.locker.clock, h.renewed))
}

// renew writes the Lease once. If it returns neither renewed nor lost, it may be tried again.
func (h *HeldLock) renew(ctx context.Context) (renewed, lost bool) {
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
			h.lose(errors.New(takenBy(taken.Identity)))
		}
	}
	return err == nil, h.reason != nil
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
