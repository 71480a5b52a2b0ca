package setrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Applier applies a saved set.
type Applier struct {
	Saved *Saved
	// Runner returns the engine that applies a plan and reports progress. ended is
	// called with the outcome.
	Runner func(key releaseset.Key, made *plan.Plan) (run *engine.Engine, ended func(apply.Outcome, error), err error)
	// Parallel is how many releases of a wave are applied in parallel.
	Parallel int
	// KeepGoing continues after a failure with every release that does not need a failed one.
	KeepGoing bool
	Lock      releasestore.LockOptions
}

// Applied is the result for one release.
type Applied struct {
	Key     releaseset.Key
	Plan    *plan.Plan
	Outcome apply.Outcome
	Err     error
	// Skipped says why it was not started, "" if it was.
	Skipped string
}

// Check replans the whole set and writes nothing. Errors, joined and prefixed with the release:
// *engine.StaleError for a stale plan, apply.ErrBlocked for a blocked one, and those of clusters
// that can't be reached. Deferred plans are not checked: what they need does not exist yet.
func (a *Applier) Check(ctx context.Context) error {
	errs := make([]error, len(a.Saved.Index.Plans))
	group := errgroup.Group{}
	group.SetLimit(max(1, a.Parallel))
	for i, p := range a.Saved.Index.Plans {
		made := a.Saved.Plans[p.Key]
		switch {
		case p.Deferred != "":
			continue
		case made.Blocked():
			errs[i] = fmt.Errorf("%s: %w", p.Key, apply.ErrBlocked)
			continue
		}
		group.Go(func() error {
			run, _, err := a.Runner(p.Key, made)
			if err == nil {
				err = run.Check(ctx, made)
			}
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", p.Key, err)
			}
			return nil
		})
	}
	_ = group.Wait() // failures are in errs
	return errors.Join(errs...)
}

// Run applies the set, wave by wave: what a release needs is applied before it, and a release
// that is uninstalled goes before what it needs. After a failure no further release starts, unless
// KeepGoing is set; those that have begun go on. For plans that were not started, the result says why.
func (a *Applier) Run(ctx context.Context) ([]Applied, error) {
	waves, err := releaseset.Waves(a.entries())
	if err != nil {
		return nil, err
	}
	var out []Applied
	failed := &failures{keys: map[releaseset.Key]bool{}}
	for _, wave := range waves {
		done := make([]Applied, len(wave))
		group := errgroup.Group{}
		group.SetLimit(max(1, a.Parallel))
		for i, e := range wave {
			group.Go(func() error {
				d := Applied{Key: e.Key, Plan: a.Saved.Plans[e.Key], Skipped: a.hindrance(ctx, e, failed)}
				if d.Skipped == "" {
					a.one(ctx, &d)
				}
				if d.Err != nil || d.Skipped != "" {
					failed.add(e.Key)
				}
				done[i] = d
				return nil
			})
		}
		_ = group.Wait() // failures are in done
		out = append(out, done...)
	}
	return out, nil
}

// failures are the releases that have failed or were not started.
type failures struct {
	mu   sync.Mutex
	keys map[releaseset.Key]bool
}

func (f *failures) add(key releaseset.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[key] = true
}

// hindrance returns why an entry can't be started, or "".
func (a *Applier) hindrance(ctx context.Context, e releaseset.Entry, failed *failures) string {
	failed.mu.Lock()
	defer failed.mu.Unlock()
	i := slices.IndexFunc(e.Needs, func(need releaseset.Key) bool { return failed.keys[need] })
	switch {
	case i >= 0:
		return "it needs " + e.Needs[i].String()
	case ctx.Err() != nil:
		return "the run was stopped"
	case len(failed.keys) > 0 && !a.KeepGoing:
		return "another release failed earlier"
	}
	return ""
}

// entries returns the plans as entries whose needs say what has to be done first.
func (a *Applier) entries() []releaseset.Entry {
	index := map[releaseset.Key]*releaseset.Entry{}
	var out []releaseset.Entry
	for _, p := range a.Saved.Index.Plans {
		out = append(out, releaseset.Entry{Key: p.Key, Uninstalled: p.Operation == plan.Uninstall})
	}
	for i := range out {
		index[out[i].Key] = &out[i]
	}
	for i, p := range a.Saved.Index.Plans {
		for _, need := range p.Needs {
			switch needed := index[need]; {
			case needed == nil || needed.Uninstalled != out[i].Uninstalled:
			case needed.Uninstalled:
				needed.Needs = append(needed.Needs, p.Key)
			default:
				out[i].Needs = append(out[i].Needs, need)
			}
		}
	}
	return out
}

// one applies one plan; a deferred one is replanned first.
func (a *Applier) one(ctx context.Context, d *Applied) {
	run, ended, err := a.Runner(d.Key, d.Plan)
	if err != nil {
		d.Err = err
		return
	}
	made := d.Plan
	if a.deferred(d.Key) {
		made, err = undeferred(ctx, run, made)
	}
	if err == nil {
		d.Outcome, err = run.ApplyReviewed(ctx, made, a.Lock)
	}
	d.Err = err
	ended(d.Outcome, err)
}

func (a *Applier) deferred(key releaseset.Key) bool {
	return slices.ContainsFunc(a.Saved.Index.Plans, func(p IndexPlan) bool { return p.Key == key && p.Deferred != "" })
}
