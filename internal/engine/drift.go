package engine

import (
	"context"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// PlanDrift plans to give the release's objects back what its newest revision sent, by
// server-side applies and without a new revision. overlook takes out of steps what is to
// be left alone; nil overlooks nothing. Without any record it is a *NoReleaseError.
func (e *Engine) PlanDrift(ctx context.Context, key release.Key, o plan.Options, overlook func(*plan.Step)) (*plan.Plan, error) {
	in, err := e.newest(ctx, plan.CorrectDrift, key, o)
	if err != nil {
		return nil, err
	}
	in.Options.ServerSide, in.Overlook = true, overlook
	return e.decide(ctx, in)
}

// Restore carries out steps of a plan of PlanDrift under the release's lock, whatever else of
// it is blocked. No record is written, no hook is run, and nothing is waited for.
func (e *Engine) Restore(ctx context.Context, p *plan.Plan, steps []plan.Step, lock releasestore.LockOptions) error {
	part := *p
	part.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}}
	part.Problems, part.Summary = nil, plan.Summary{}
	return e.Locked(ctx, p.Release, lock, func(ctx context.Context, held apply.Lock) error {
		_, err := e.run(ctx, &part, nil, held)
		return err
	})
}
