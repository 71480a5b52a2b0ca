package apply

import "context"

// Lock is the release's lock as a run sees it.
type Lock interface {
	// Take takes the lock unless it is held already; it is called before the first record is written.
	// Only the lock of a run that creates the namespace of its release is not held from the start.
	Take(ctx context.Context) error
	// Check fails when this run no longer holds the lock; it is called before
	// every write.
	Check() error
	// Lost returns a channel that is closed once the loss is known, even while nothing is written.
	Lost() <-chan struct{}
	// Supported reports whether there is a lock. Without permission for one there is
	// none: the run goes on without it, and its pending record says so.
	Supported() bool
}

// whileLocked returns a context that also ends when the lock is lost, with the lock's error as its
// cause, so waits end as well.
func (r *run) whileLocked(ctx context.Context) (_ context.Context, end func()) {
	if r.env.Lock == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := r.whenLost(func() { cancel(r.env.Lock.Check()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// unlocked reports whether the run has no lock. Then only the pending status of its revision keeps
// other runs away, and nobody can tell whether the run is still alive.
func (r *run) unlocked() bool { return r.env.Lock != nil && !r.env.Lock.Supported() }

// whenLost calls lost when the lock is lost, unless stop was called before.
func (r *run) whenLost(lost func()) (stop func()) {
	if r.env.Lock == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-r.env.Lock.Lost():
			lost()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// fenced returns why nothing may be written any more; nil while the lock is held.
func (r *run) fenced() error {
	if r.env.Lock == nil {
		return nil
	}
	return r.env.Lock.Check()
}
