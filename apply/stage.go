package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// stage runs the waves of a stage. After a failure, or when ctx has ended, only waves of steps with
// a When still run: they clean up after steps that have begun.
func (r *run) stage(ctx context.Context, stage plan.Stage) (err error) {
	for _, wave := range stage.Waves {
		switch {
		case conditional(wave):
			err = errors.Join(err, r.wave(context.WithoutCancel(ctx), stage.Name, wave))
		case err != nil:
		case ctx.Err() != nil:
			err = fmt.Errorf("stopped in stage %q: %w", stage.Name, context.Cause(ctx))
		default:
			err = r.wave(ctx, stage.Name, wave)
		}
	}
	return err
}

// conditional reports whether every step of the wave has a When.
func conditional(w plan.Wave) bool {
	return !slices.ContainsFunc(w.Steps, func(s plan.Step) bool { return s.When == "" })
}

// wave runs the steps of a wave concurrently; they start in the order of the plan. After the first
// failure, or when ctx ends, no further step starts; those under way are awaited.
func (r *run) wave(ctx context.Context, stage plan.StageName, w plan.Wave) error {
	if waits := onlyWaits(w); waits != nil {
		return r.waitAll(ctx, stage, waits)
	}
	var (
		group           sync.WaitGroup
		failed, stopped atomic.Bool
		next            = make(chan int)
		errs            = make([]error, len(w.Steps))
	)
	work := func() { // goroutines are reused: one for each step would grow a new stack every time
		for i := range next {
			if failed.Load() && r.failure == "" || ctx.Err() != nil { // the stages after a failure do as much as they can
				stopped.Store(true)
				continue
			}
			if errs[i] = r.step(ctx, stage, &w.Steps[i]); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	for range min(retry.Concurrency, len(w.Steps)) {
		group.Go(work)
	}
	for i := range w.Steps {
		step := &w.Steps[i]
		if step.Op == plan.OpNone || step.Op == plan.OpKeep || !r.due(step) {
			continue
		}
		if next <- i; stopped.Load() {
			break
		}
	}
	close(next)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if stopped.Load() {
		return fmt.Errorf("stopped in stage %q: %w", stage, context.Cause(ctx))
	}
	return nil
}

// onlyWaits returns the steps of a wave that consists of waits, else nil.
func onlyWaits(w plan.Wave) []plan.Step {
	for _, s := range w.Steps {
		if s.Op != plan.OpWait {
			return nil
		}
	}
	return w.Steps
}

// due reports whether a step that depends on another one has to run: whether the other ended as
// When says, and whether the object to delete was created at all.
func (r *run) due(s *plan.Step) bool {
	switch {
	case s.Of != "" && s.Op == plan.OpDelete && r.uid(s.Object) == "":
		return false
	case s.When != "" && r.lost() != nil: // the next holder cleans up
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	succeeded, ended := r.ended[s.Of]
	switch s.When {
	case plan.WhenAlways:
		return ended
	case plan.WhenSucceeded:
		return ended && succeeded
	case plan.WhenFailed:
		return ended && !succeeded
	}
	return true
}

// behindDeletions waits until the objects are gone that a step has to come after.
func (r *run) behindDeletions(ctx context.Context, s *plan.Step) (err error) {
	if len(s.Behind) == 0 {
		return nil
	}
	r.plan.Steps(func(_ plan.StageName, deleted *plan.Step) {
		if err != nil || deleted.Op != plan.OpDelete || !slices.Contains(s.Behind, deleted.ID) {
			return
		}
		if waitErr := r.gone(ctx, target(deleted), r.toDelete(deleted)); waitErr != nil {
			err = fmt.Errorf("%s %s: wait until %s is gone: %w", s.Op, s.Object, deleted.Object, waitErr)
		}
	})
	return err
}
