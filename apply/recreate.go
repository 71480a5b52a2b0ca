package apply

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/plan"
)

// finishTimeout limits how long a run that was told to end goes on to create an object again that it has
// deleted: twice the time that a Pod has by default to stop (Kubernetes, terminationGracePeriodSeconds).
const finishTimeout = time.Minute

// recreate deletes the object, waits until it is gone, and creates it. Once it is deleted, the end of ctx does
// not stop that: see finishing.
func (r *run) recreate(ctx context.Context, s *plan.Step) error {
	if err := r.delete(ctx, s); err != nil {
		return err
	}
	r.began(s, s.Object.String()+" was deleted and not created again")
	ctx, end := r.finishing(ctx, s)
	defer end()
	return r.createOnceGone(ctx, s)
}

// createOnceGone waits until the object that is being deleted is gone, and creates it.
func (r *run) createOnceGone(ctx context.Context, s *plan.Step) error {
	if err := r.gone(ctx, target(s), r.toDelete(s)); err != nil {
		return fmt.Errorf("%s %s: %w", s.Op, s.Object, err)
	}
	return r.create(ctx, s)
}

// began keeps that the first of a step's writes was made: what has become of the object should the step fail.
func (r *run) began(s *plan.Step, what string) {
	r.written.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun[s.ID] = what
}

// finishing returns a context for the rest of a step whose object is deleted by now. It ends finishTimeout
// after ctx, with the same cause: at once if the lock is lost, or if the next run resumes this one.
func (r *run) finishing(ctx context.Context, s *plan.Step) (_ context.Context, end func()) {
	longer, unlock := r.whileLocked(context.WithoutCancel(ctx))
	longer, cancel := context.WithCancelCause(longer)
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		if !leaves(ctx) && r.lost() == nil {
			r.observe(Event{Type: Note, Message: fmt.Sprintf("%s is deleted, and is created again before the run ends, unless that takes longer than %s", s.Object, finishTimeout)})
			_ = r.env.Sleep(longer, finishTimeout)
		}
		cancel(context.Cause(ctx))
	})
	return longer, func() {
		cancel(nil)
		if !stop() {
			<-over
		}
		unlock()
	}
}
