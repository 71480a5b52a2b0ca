package engine

import (
	"context"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Differs reports whether a deployment would send something other than the newest revision, which
// is still pending; the chart is rendered as for that revision. It returns false if no revision is
// pending where the release is to be.
func (e *Engine) Differs(ctx context.Context, d Deployment) (bool, error) {
	facts, err := e.Cluster.Facts(ctx)
	if err != nil {
		return false, err
	}
	history, err := e.history(ctx, d.Release)
	if err != nil {
		return false, err
	}
	last := history.Last()
	if last == nil || !last.Info.Status.Pending() {
		return false, nil
	}
	g := gathered{facts: facts, history: history[:len(history)-1], lookups: e.lookups(ctx)}
	op := plan.Upgrade
	if last.Info.Status == release.StatusPendingInstall {
		op = plan.Install
	}
	target, err := targetOf(ctx, d.as(op), g, op)
	if err != nil {
		return false, err
	}
	same := target.Record.Manifest == last.Manifest &&
		slices.EqualFunc(target.Record.Hooks, last.Hooks, func(a, b release.Hook) bool { return a.Manifest == b.Manifest })
	return !same, nil
}

// PlanSuccessor plans a deployment as if the newest revision, if it is pending, had failed: as which it is
// recorded once its run is given up for this plan. Errors are those of PlanDeployment.
func (e *Engine) PlanSuccessor(ctx context.Context, d Deployment) (*plan.Plan, error) {
	g, err := e.gatherGivenUp(ctx, d.Release)
	if err != nil {
		return nil, err
	}
	return e.planDeployment(ctx, d, g)
}

// gatherGivenUp gathers as if the newest revision, if it is pending, had failed. The lock, which its run
// holds, does not count.
func (e *Engine) gatherGivenUp(ctx context.Context, key release.Key, also ...goals) (gathered, error) {
	g, err := e.factsAndHistory(ctx, key, also...)
	if last := g.history.Last(); last != nil && last.Info.Status.Pending() {
		g.history = slices.Clone(g.history)
		g.history[len(g.history)-1] = last.WithStatus(release.StatusFailed, "")
	}
	return g, err
}
