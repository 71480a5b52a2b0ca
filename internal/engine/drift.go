package engine

import (
	"context"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// PlanDrift plans to restore what the release's newest revision sent, using server-side apply and
// without a new revision. scope says what is left alone. It returns a *NoReleaseError if there is no
// record.
func (e *Engine) PlanDrift(ctx context.Context, key release.Key, o plan.Options, scope plan.DriftScope) (*plan.Plan, error) {
	in, err := e.newest(ctx, plan.CorrectDrift, key, o)
	if err != nil {
		return nil, err
	}
	in.Options.ServerSide, in.DriftScope = true, scope
	return e.decide(ctx, in)
}

// Restore carries out a plan from PlanDrift under the release's lock. It writes no record, runs no
// hooks and does not wait. It returns a *StaleError if the newest revision is no longer the one that the
// plan restores, and otherwise the errors of Locked and of apply.Run.
func (e *Engine) Restore(ctx context.Context, p *plan.Plan, lock releasestore.LockOptions) error {
	return e.Locked(ctx, p.Release, lock, func(ctx context.Context, held apply.Lock) error {
		history, err := e.history(ctx, p.Release)
		if err != nil {
			return err
		}
		if plan.NewestOf(history) != p.Newest {
			return &StaleError{Differences: []string{"the release has changed since the plan was made"}}
		}
		_, err = e.run(ctx, p, history, held)
		return err
	})
}
