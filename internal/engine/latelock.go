package engine

import (
	"context"
	"sync"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// lateLock is the lock of a release whose namespace does not exist or is terminating: it is taken once the run has
// created the namespace, before the first record is written. Until then it counts as held, and for good if that
// fails and the run goes on, as an uninstall does whose namespace somebody has deleted: nobody else gets a lock there.
type lateLock struct {
	namespace string
	acquire   func(context.Context) (*releasestore.HeldLock, error)
	// refused is why a namespace that is terminating has no lock: without one, only an uninstall goes on. nil where
	// the namespace does not exist.
	refused error
	// check is called once the lock is taken: another run may have held it until then. nil checks nothing.
	check func(context.Context) error
	lost  chan struct{}
	ended chan struct{}

	mu   sync.Mutex
	held *releasestore.HeldLock
}

func newLateLock(namespace string, acquire func(context.Context) (*releasestore.HeldLock, error)) *lateLock {
	return &lateLock{namespace: namespace, acquire: acquire, lost: make(chan struct{}), ended: make(chan struct{})}
}

// Take implements apply.Lock.
func (l *lateLock) Take(ctx context.Context) error {
	if l.lock() != nil {
		return nil
	}
	held, err := l.acquire(ctx)
	if cluster.NamespaceMissing(err, l.namespace) {
		return nil
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.held = held
	l.mu.Unlock()
	go func() {
		select {
		case <-held.Lost():
			close(l.lost)
		case <-l.ended:
		}
	}()
	if l.check == nil {
		return nil
	}
	return l.check(ctx)
}

// checkLate has a lock that is taken late checked for apply.ErrChanged once it is held. Any other was held when the
// plan was compared with the release. It returns why the plan can't be carried out without a lock.
func (e *Engine) checkLate(lock apply.Lock, p *plan.Plan) error {
	late, is := lock.(*lateLock)
	if !is {
		return nil
	}
	if late.refused != nil && p.Operation != plan.Uninstall {
		return late.refused
	}
	late.check = func(ctx context.Context) error {
		history, err := e.history(ctx, p.Release)
		if err == nil && plan.NewestOf(history) != p.Newest {
			err = apply.ErrChanged
		}
		return err
	}
	return nil
}

func (l *lateLock) lock() *releasestore.HeldLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// Hold implements apply.Lock.
func (l *lateLock) Hold(ctx context.Context) (<-chan struct{}, error) {
	if held := l.lock(); held != nil {
		return held.Hold(ctx)
	}
	return nil, nil
}

// Check implements apply.Lock.
func (l *lateLock) Check() error {
	if held := l.lock(); held != nil {
		return held.Check()
	}
	return nil
}

// Lost implements apply.Lock.
func (l *lateLock) Lost() <-chan struct{} { return l.lost }

// Supported implements apply.Lock.
func (l *lateLock) Supported() bool {
	held := l.lock()
	return held == nil || held.Supported()
}

// release releases the lock if it was taken.
func (l *lateLock) release(ctx context.Context) {
	close(l.ended)
	if held := l.lock(); held != nil {
		_ = held.Release(ctx)
	}
}
