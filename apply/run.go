package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Env holds the dependencies of a run.
type Env struct {
	Cluster  Cluster
	Store    Store
	Observer Observer
	// History holds the records that the store had when the plan was made. Records that the
	// plan supersedes, fails or prunes are taken from it.
	History release.History
	// Now is the clock; Sleep waits for a duration or until ctx ends.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// Lock is the release's lock; nil when there is none.
	Lock Lock
	// Readiness says whether an awaited object is ready, where it knows better than package
	// readiness; judged is false for other objects. nil judges none.
	Readiness func(*unstructured.Unstructured) (result readiness.Result, judged bool)
}

// Outcome says what a run has done, whether it succeeded or not.
type Outcome struct {
	// Written reports whether objects were written, records not counted.
	Written bool
	// Recorded reports whether the new revision was stored.
	Recorded bool
	// Made and Planned count changes to objects: those that were made, and those in the plan. Hooks
	// don't count, see plan.Step.Writes.
	Made, Planned int
	// Begun says which of the changes that were not made were made in part, each with what has become of
	// its object, such as "Pod/web was deleted and not created again".
	Begun []string
	// Before is the newest successful revision from before the run, 0 when there is none.
	Before int
	// Remaining are the objects that an uninstall after a failed install has deleted and that were not
	// gone when the wait for that ended, each with the reason.
	Remaining []string
	// Revision is the record in its last state; nil when the plan has none.
	Revision *release.Revision
}

// ErrLeave is the cause of a cancelled context that ends a run without recording a failure: its revision
// stays pending, to be resumed.
var ErrLeave = errors.New("the run was left pending, to be resumed")

// leaves reports whether the context ended with ErrLeave.
func leaves(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrLeave) }

// ErrBlocked is returned for a plan that has blocking problems.
var ErrBlocked = errors.New("the plan has blocking problems")

// Run carries out the plan. It starts with the first stage and ends with the
// last, or where a step fails; then the revision is recorded as failed and the
// step's error returned. When ctx ends, no new step starts, steps under way are
// awaited, what a step has deleted is created again if it is gone within a minute, and the
// revision is recorded as failed, too. When the lock is lost, writes under way are cancelled, and
// nothing more is written, not even the record.
//
// Run never rolls back: a rollback is a plan of its own.
//
// Errors: before anything is written, a *plan.ComparedError for a comparison and ErrBlocked for a
// plan with blocking problems. Later, errors of steps, joined, each of which names its object: a
// *NotReadyError when a wait or a hook did not succeed, otherwise what Cluster and Store return,
// wrapped (apierrors.IsConflict when somebody else has written an object or a record since the plan
// was made). When ctx ends, its cause is among them, and ErrLeave where that is the cause.
// When the lock is lost, so is what Lock.Check returns, such as a *releasestore.LostError. When the
// end of a failed run can't be recorded, that error is joined to its cause.
func Run(ctx context.Context, p *plan.Plan, env Env) (Outcome, error) {
	if err := p.Applicable(); err != nil {
		return Outcome{}, err
	}
	if p.Blocked() {
		return Outcome{}, ErrBlocked
	}
	r := &run{env: env, plan: p, writes: retry.NewFlow(retry.Concurrency), uids: map[manifest.ID]types.UID{}, awaited: awaited(p), ended: map[string]bool{}, begun: map[string]string{}, redefined: map[schema.GroupKind]bool{}}
	ctx, end := r.whileLocked(ctx)
	defer end()
	r.begin()
	err := r.stages(ctx)
	switch lost := r.lost(); {
	case err == nil, errors.Is(err, lost):
	case leaves(ctx):
		err = errors.Join(err, ErrLeave)
	case lost != nil: // the next holder has to record how it ended
		err = errors.Join(err, lost)
	default:
		err = errors.Join(err, r.fail(ctx, err))
	}
	return r.outcome(), err
}

// run is the state of one Run.
type run struct {
	env    Env
	plan   *plan.Plan
	writes *retry.Flow

	mu sync.Mutex
	// record is the revision as it is, or will be, stored.
	record   *release.Revision
	recorded bool
	// unsure is a revision of which it is not known whether its first record was stored.
	unsure *release.Revision
	// recording is the step that has last written the record.
	recording *plan.Step
	// uids are the UIDs of the objects that this run has written.
	uids map[manifest.ID]types.UID
	// awaited are the objects that the plan waits for, as this run has written them; nil for one
	// that it has not written yet.
	awaited map[manifest.ID]*unstructured.Unstructured
	// ended says, by the ID of each ended step, whether it succeeded. Steps that are left to the run that
	// resumes this one have not ended.
	ended map[string]bool
	// begun says, by the ID of each step that consists of several writes, what the first of them has done.
	begun map[string]string
	// redefined are the kinds whose schemas this run has changed; false once they are validated as any other.
	redefined map[schema.GroupKind]bool
	// failure is the description of the revision once the run has failed.
	failure string
	// remaining is that of the Outcome; only the wait for the deleted objects writes it.
	remaining []string
	written   atomic.Bool
	// serviceGone reports whether the run has waited for the end of a Service.
	serviceGone atomic.Bool
	// suspended reports whether writes wait for the lock, and that was told.
	suspended atomic.Bool

	// observing is held while the observer is told an event.
	observing sync.Mutex
}

// begin sets the revision that the run records: the plan's or, if it has none, the newest one.
func (r *run) begin() {
	switch {
	case r.plan.Record != nil:
		record := *r.plan.Record
		record.Hooks = append([]release.Hook(nil), record.Hooks...)
		r.record = &record
	default:
		if last := r.env.History.Last(); last != nil {
			record := *last
			record.Hooks = append([]release.Hook(nil), record.Hooks...)
			r.record = &record
		}
	}
	if r.plan.Operation == plan.Test || r.plan.Operation == plan.Uninstall || r.plan.Operation == plan.CorrectRecords || r.plan.Resumes() {
		r.recorded = true // the revision existed before
	}
}

func (r *run) stages(ctx context.Context) error {
	for _, stage := range r.plan.Stages {
		r.observe(Event{Type: StageStarted, Stage: string(stage.Name), Steps: stepsOf(stage)})
		if err := r.stage(ctx, stage); err != nil {
			return err
		}
	}
	r.complete()
	return nil
}

// stepsOf counts the steps of a stage that do something, without those that depend on the end of
// another step.
func stepsOf(stage plan.Stage) int {
	n := 0
	for _, wave := range stage.Waves {
		for i := range wave.Steps {
			if s := &wave.Steps[i]; s.Op != plan.OpNone && s.Op != plan.OpKeep && s.When == "" {
				n++
			}
		}
	}
	return n
}

func (r *run) step(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	r.observe(stepEvent(StepStarted, stage, s))
	err := r.perform(ctx, stage, s)
	if err == nil || !leaves(ctx) {
		r.mu.Lock()
		r.ended[s.ID] = err == nil
		r.mu.Unlock()
	}
	event := stepEvent(StepDone, stage, s)
	switch {
	case errors.Is(err, ErrChanged):
		event.Type, event.Message = Note, err.Error()
	case err != nil:
		event.Type, event.Message, event.Cause = StepFailed, err.Error(), err
	}
	r.observe(event)
	return err
}

func (r *run) perform(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	if err := r.behindDeletions(ctx, s); err != nil {
		return err
	}
	switch s.Op {
	case plan.OpCreate:
		if r.toDelete(s) != "" {
			return r.createOnceGone(ctx, s)
		}
		return r.create(ctx, s)
	case plan.OpPatch, plan.OpAdopt:
		return r.patch(ctx, s)
	case plan.OpReplace:
		return r.replace(ctx, s)
	case plan.OpRecreate:
		return r.recreate(ctx, s)
	case plan.OpDelete:
		return r.remove(ctx, stage, s)
	case plan.OpRun:
		return r.hook(ctx, stage, s)
	case plan.OpRecord:
		return r.writeRecord(ctx, s)
	case plan.OpWait:
		return r.waitAll(ctx, stage, []plan.Step{*s})
	case plan.OpKeep, plan.OpNone:
		return nil
	}
	return fmt.Errorf("%s: unknown op %q", s.ID, s.Op)
}

func (r *run) observe(e Event) {
	if r.env.Observer == nil {
		return
	}
	r.observing.Lock()
	defer r.observing.Unlock()
	e.Time = r.env.Now()
	r.env.Observer.Observe(e)
}

func (r *run) outcome() Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Outcome{Written: r.written.Load(), Recorded: r.recorded, Revision: r.record, Remaining: r.remaining}
	if before := r.env.History.LastSuccessful(); before != nil {
		out.Before = before.Version
	}
	r.plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if !s.Writes() {
			return
		}
		out.Planned++
		switch what, begun := r.begun[s.ID]; {
		case r.ended[s.ID]:
			out.Made++
		case begun:
			out.Begun = append(out.Begun, what)
		}
	})
	return out
}
