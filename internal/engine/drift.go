package engine

import (
	"context"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// PlanDrift plans, by server-side apply, what would bring the live objects back to what
// the newest revision has sent. Of the plan the stage of the resources counts: nothing is
// released by it. See Restore.
func (e *Engine) PlanDrift(ctx context.Context, key release.Key, o plan.Options) (*plan.Plan, error) {
	g, err := e.gather(ctx, key)
	if err != nil {
		return nil, err
	}
	last := g.history.Last()
	if last == nil {
		return nil, &NoReleaseError{Key: key}
	}
	target, err := newTarget(last, nil, refOf(last))
	if err != nil {
		return nil, err
	}
	in := e.input(plan.Upgrade, key, o, g)
	in.Options.ServerSide, in.Target = true, &target
	return e.decide(ctx, in)
}

// Restore carries out steps of a plan of PlanDrift under the release's lock. No record is
// written, no hook is run, and nothing is waited for.
func (e *Engine) Restore(ctx context.Context, p *plan.Plan, steps []plan.Step, lock releasestore.LockOptions) error {
	part := *p
	part.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}
	part.Record, part.OnFailure, part.Problems = nil, nil, nil
	return e.Locked(ctx, p.Release, lock, func(ctx context.Context, held apply.Lock) error {
		_, err := e.run(ctx, &part, nil, held)
		return err
	})
}
