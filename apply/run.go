package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Concurrency is how many requests of a wave are under way at once.
const Concurrency = 32

// Env is what a run works with.
type Env struct {
	Cluster  Cluster
	Store    Store
	Observer Observer
	// History is what the store held when the plan was made. Records that the
	// plan supersedes, fails or prunes are taken from it.
	History release.History
	// Now is the clock; Sleep waits for a duration or until ctx ends.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// Lock is the release's lock; nil when there is none.
	Lock Lock
}

// Outcome is what a run has done, whether it ended well or not.
type Outcome struct {
	// Written says whether anything but records was written.
	Written bool
	// Recorded says whether the new revision was stored.
	Recorded bool
	// Created are the objects that this run has created.
	Created []Ref
	// Revision is the record in its last state; nil when the plan has none.
	Revision *release.Revision
}

// ErrBlocked is returned for a plan that has blocking problems.
var ErrBlocked = errors.New("the plan has blocking problems")

// Run carries out the plan. It starts with the first stage and ends with the
// last, or where a step fails; then the revision is recorded as failed and the
// step's error returned. When ctx ends, no new step begins, steps under way are
// joined, and the revision is recorded as failed, too. When the lock is lost,
// writes under way are cut off, and nothing is written any more, not even that.
//
// Run never rolls back: that is another plan.
func Run(ctx context.Context, p *plan.Plan, env Env) (Outcome, error) {
	if err := p.Applicable(); err != nil {
		return Outcome{}, err
	}
	if p.Blocked() {
		return Outcome{}, ErrBlocked
	}
	r := &run{env: env, plan: p, uids: map[manifest.ID]types.UID{}, ended: map[string]bool{}}
	ctx, end := r.whileLocked(ctx)
	defer end()
	r.begin()
	err := r.stages(ctx)
	switch lost := r.fenced(); {
	case err == nil, errors.Is(err, lost):
	case lost != nil: // the next holder has to tell how it ended
		err = errors.Join(err, lost)
	default:
		err = errors.Join(err, r.fail(ctx, err))
	}
	return r.outcome(), err
}

// run is the state of one Run.
type run struct {
	env  Env
	plan *plan.Plan

	mu sync.Mutex
	// record is the revision as it is, or will be, stored.
	record   *release.Revision
	recorded bool
	// unsure is a revision whose first record may be stored or not.
	unsure  *release.Revision
	created []Ref
	// uids are those of the objects this run has written.
	uids map[manifest.ID]types.UID
	// ended are the IDs of the steps that have ended well.
	ended   map[string]bool
	written atomic.Bool
}

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
	if r.plan.Operation == plan.Test || r.plan.Operation == plan.Uninstall {
		r.recorded = true // the revision was there before
	}
}

func (r *run) stages(ctx context.Context) error {
	for _, stage := range r.plan.Stages {
		r.observe(Event{Type: StageStarted, Stage: string(stage.Name)})
		if err := r.stage(ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) stage(ctx context.Context, stage plan.Stage) error {
	var ran []plan.Step
	for _, wave := range stage.Waves {
		if ctx.Err() != nil {
			err := fmt.Errorf("stopped in stage %q: %w", stage.Name, context.Cause(ctx))
			return errors.Join(err, r.cleanHooks(ctx, ran))
		}
		if err := r.wave(ctx, stage.Name, wave); err != nil {
			return errors.Join(err, r.cleanHooks(ctx, ran))
		}
		if isHookStage(wave) {
			ran = append(ran, wave.Steps...)
		}
	}
	return r.cleanHooks(ctx, ran)
}

func isHookStage(w plan.Wave) bool {
	return len(w.Steps) > 0 && w.Steps[0].Op == plan.OpRun
}

// wave runs the steps of a wave side by side. After the first failure, or when
// ctx ends, no further step begins; those under way are joined.
func (r *run) wave(ctx context.Context, stage plan.StageName, w plan.Wave) error {
	if waits := onlyWaits(w); waits != nil {
		return r.waitAll(ctx, stage, waits)
	}
	var (
		group   sync.WaitGroup
		failed  atomic.Bool
		stopped bool
		slots   = make(chan struct{}, Concurrency)
		errs    = make([]error, len(w.Steps))
	)
	for _, i := range interleaved(w.Steps) {
		step := &w.Steps[i]
		if step.Op == plan.OpNone || step.Op == plan.OpKeep {
			continue
		}
		slots <- struct{}{}
		if failed.Load() || ctx.Err() != nil {
			<-slots
			stopped = true
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			if errs[i] = r.step(ctx, stage, step); errs[i] != nil {
				failed.Store(true)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if stopped {
		return fmt.Errorf("stopped in stage %q: %w", stage, context.Cause(ctx))
	}
	return nil
}

// interleaved is the order in which the steps of a wave begin: as they are, but
// with the kinds mixed. The API server is slow with some, such as Services, whose
// addresses it gives out one by one, and has time for others meanwhile.
func interleaved(steps []plan.Step) []int {
	type place struct {
		index, nth int
		kind       schema.GroupKind
	}
	count := map[schema.GroupKind]int{}
	places := make([]place, len(steps))
	for i, s := range steps {
		kind := schema.GroupKind{Group: s.Object.Group, Kind: s.Object.Kind}
		places[i] = place{i, count[kind], kind}
		count[kind]++
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Compare(a.nth*count[b.kind], b.nth*count[a.kind])
	})
	order := make([]int, len(steps))
	for i, p := range places {
		order[i] = p.index
	}
	return order
}

func onlyWaits(w plan.Wave) []plan.Step {
	for _, s := range w.Steps {
		if s.Op != plan.OpWait {
			return nil
		}
	}
	return w.Steps
}

func (r *run) step(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	event := Event{Type: StepStarted, Stage: string(stage), Step: s.ID, Object: s.Object, Message: string(s.Op)}
	r.observe(event)
	err := r.perform(ctx, stage, s)
	event.Type = StepDone
	if err == nil {
		r.mu.Lock()
		r.ended[s.ID] = true
		r.mu.Unlock()
	} else {
		event.Type, event.Message = StepFailed, err.Error()
	}
	r.observe(event)
	return err
}

func (r *run) perform(ctx context.Context, stage plan.StageName, s *plan.Step) error {
	switch s.Op {
	case plan.OpCreate:
		return r.create(ctx, s)
	case plan.OpPatch, plan.OpAdopt:
		return r.patch(ctx, s)
	case plan.OpReplace:
		return r.replace(ctx, s)
	case plan.OpRecreate:
		return r.recreate(ctx, s)
	case plan.OpDelete:
		return r.delete(ctx, s)
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
	e.Time = r.env.Now()
	r.env.Observer.Observe(e)
}

func (r *run) outcome() Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Outcome{Written: r.written.Load(), Recorded: r.recorded, Created: r.created, Revision: r.record}
}
