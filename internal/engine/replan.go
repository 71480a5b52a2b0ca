package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// StaleError says that what was reviewed is no longer what would be done.
type StaleError struct{ Differences []string }

func (e *StaleError) Error() string {
	return "the plan is stale:\n  " + strings.Join(e.Differences, "\n  ")
}

// Replan plans the same target anew: nothing is rendered, everything is looked
// at afresh. What rendering has warned of is in p and not in the new plan.
func (e *Engine) Replan(ctx context.Context, p *plan.Plan) (*plan.Plan, error) {
	g, err := e.gather(ctx, p.Release)
	if err != nil {
		return nil, err
	}
	in := e.input(p.Operation, p.Release, p.Options, g)
	in.RollbackTo, in.Secrets = p.RollbackTo, p.Secrets
	if p.Record != nil {
		target, err := newTarget(p.Record, p.CRDs, p.ChartTo)
		if err != nil {
			return nil, err
		}
		target.Source = p.ChartSource
		in.Target = &target
		if p.Operation != plan.Test {
			in.Values = valuesChanges(g.history, p.Record)
		}
	}
	return e.decide(ctx, in)
}

// ApplyReviewed applies exactly what was reviewed: it takes the lock, plans anew,
// and goes on only when the new plan says the same. Errors: *StaleError, and
// those of apply.Run, and *RolledBackError.
func (e *Engine) ApplyReviewed(ctx context.Context, p *plan.Plan, lock releasestore.LockOptions) (apply.Outcome, error) {
	if err := p.Applicable(); err != nil {
		return apply.Outcome{}, fmt.Errorf("%s: %w", p.Release, err)
	}
	if p.Blocked() {
		return apply.Outcome{}, fmt.Errorf("%s: %w", p.Release, apply.ErrBlocked)
	}
	var outcome apply.Outcome
	renewal := plan.LockRenewal(p.Release.Namespace, releasestore.LeaseName(p.Release.Name))
	lock.Unusable = e.access(ctx, []plan.Permission{renewal}).Denied[renewal] // somebody else may have made the plan
	err := e.Locked(ctx, p.Release, lock, func(ctx context.Context, held apply.Lock) error {
		fresh, err := e.Replan(ctx, p)
		if err != nil {
			return err
		}
		if differences := plan.Stale(p, fresh); len(differences) > 0 {
			return &StaleError{Differences: differences}
		}
		outcome, err = e.applyOrRollBack(ctx, fresh, nil, held)
		return err
	})
	return outcome, err
}

// movedOn says whether the release is no longer what the plan started from.
func movedOn(history release.History, p *plan.Plan) bool {
	last := history.Last()
	if last == nil {
		return p.FromRevision != 0
	}
	return last.Version != p.FromRevision || last.Info.Status.Pending() != p.FoundPending
}
