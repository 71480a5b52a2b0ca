package apply

import (
	"context"
	"errors"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Lock is the release's lock as a run sees it.
type Lock interface {
	// Take takes the lock unless it is held already; it is called before the first record is written.
	// Only the lock of a release whose namespace does not exist, or is terminating, is not held from the start. It
	// returns ErrChanged if another run had it until then, and the API server's refusal in a terminating namespace.
	Take(ctx context.Context) error
	// Hold is called before every write. It waits while it is not sure that this run holds the lock, and
	// fails when the lock is lost or ctx ends. expired is closed when that is no longer sure: a write that
	// is under way then has to be cancelled, since it must not arrive after those of the next holder.
	Hold(ctx context.Context) (expired <-chan struct{}, err error)
	// Check fails when the lock is lost: another run may hold it.
	Check() error
	// Lost returns a channel that is closed once the loss is known, even while nothing is written.
	Lost() <-chan struct{}
	// Supported reports whether there is a lock. Without permission for one there is
	// none: the run goes on without it, and its pending record says so.
	Supported() bool
}

// ErrChanged ends a run that has waited for its lock while another run changed the release. It is not a failure: the
// release is planned again.
var ErrChanged = errors.New("another run has changed the release since the plan was made")

// whileLocked returns a context that also ends when the lock is lost, with the lock's error as its
// cause, so waits end as well.
func (r *run) whileLocked(ctx context.Context) (_ context.Context, end func()) {
	if r.env.Lock == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := whenClosed(r.env.Lock.Lost(), func() { cancel(r.env.Lock.Check()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// unlocked reports whether the run has no lock. Then only the pending status of its revision keeps
// other runs away, and nobody can tell whether the run is still alive.
func (r *run) unlocked() bool { return r.env.Lock != nil && !r.env.Lock.Supported() }

// whenClosed calls f when the channel is closed, unless stop was called before.
func whenClosed(c <-chan struct{}, f func()) (stop func()) {
	if c == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-c:
			f()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// lost returns why nothing may be written any more; nil unless the lock is lost.
func (r *run) lost() error {
	if r.env.Lock == nil {
		return nil
	}
	return r.env.Lock.Check()
}

// errExpired is the error of a write that was cancelled since the lock was not renewed in time.
var errExpired = errors.New("the write was cancelled, since the lock was not renewed in time")

// hold waits until the lock is held, and tells that it waits, once for all writes that do.
func (r *run) hold(ctx context.Context) (expired <-chan struct{}, err error) {
	now, cancel := context.WithCancelCause(ctx)
	cancel(errExpired)
	if expired, err = r.env.Lock.Hold(now); !errors.Is(err, errExpired) {
		return expired, err
	}
	if !r.suspended.Swap(true) {
		r.observe(Event{Type: Note, Message: "the lock can't be renewed: nothing is written until it is, or is lost"})
	}
	if expired, err = r.env.Lock.Hold(ctx); err == nil {
		r.suspended.Store(false)
	}
	return expired, err
}

// whileHeld waits until the lock is held, and makes one attempt to write. When ctx ends, the attempt is
// awaited; when the lock expires, it is cancelled. lost is the lock's error if it is lost.
func (r *run) whileHeld(ctx context.Context, attempt func(context.Context) error) (err, lost error) {
	var expired <-chan struct{}
	if r.env.Lock != nil {
		if expired, err = r.hold(ctx); err != nil {
			return err, r.lost()
		}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer whenClosed(expired, func() { cancel(errExpired) })()
	ctx, end := context.WithTimeout(ctx, retry.Timeout)
	defer end()
	if err = attempt(ctx); err == nil || !errors.Is(context.Cause(ctx), errExpired) {
		return err, nil
	}
	if lost = r.lost(); lost != nil {
		return lost, lost
	}
	return errExpired, nil
}
