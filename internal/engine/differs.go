package engine

import (
	"context"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Differs reports whether a deployment would send something other than the newest revision, which
// is still pending; the chart is rendered as for that revision. It returns false if no revision is
// pending.
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
