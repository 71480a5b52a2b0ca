package command

import (
	"context"

	"github.com/kubectl-release/kubectl-release/plan"
)

// applyOnward plans the target of a saved plan anew from the release's current state, shows the
// differences from the reviewed plan, asks and applies.
func (p *program) applyOnward(ctx context.Context, s *session, o *applyFlags, saved *plan.Plan) error {
	fresh, differences, err := s.engine.PlanOnward(ctx, saved)
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		return p.reviewed(ctx, s, &o.options, saved)
	}
	p.hideMore(fresh)
	if err := p.presenter.differences(fresh, differences); err != nil {
		return err
	}
	if fresh.Blocked() {
		return p.blocked(fresh)
	}
	if fresh.Effect() == plan.EffectNone {
		return p.presenter.end(ctx, ending{idle: true})
	}
	if err := p.confirmPlan(ctx, o.yes, fresh); err != nil {
		return err
	}
	return p.reviewed(ctx, s, &o.options, fresh)
}
