package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Rollback says how to roll a release back.
type Rollback struct {
	// To is the revision to return to; 0 means the last successful one before the newest.
	To         int
	ServerSide ServerSide
	Options    plan.Options
	// Spare selects objects that are kept.
	Spare plan.Spare
}

// PlanRollback plans a rollback. It returns a *NoRevisionError if there is no such revision.
func (e *Engine) PlanRollback(ctx context.Context, key release.Key, r Rollback) (*plan.Plan, error) {
	in, err := e.rollback(ctx, key, r)
	if err != nil {
		return nil, err
	}
	return e.decide(ctx, in)
}

// rollback gathers the input for PlanRollback.
func (e *Engine) rollback(ctx context.Context, key release.Key, r Rollback) (plan.Input, error) {
	g, err := e.gather(ctx, key, func(h release.History) []*release.Revision {
		goal, err := rollbackGoal(h, key, r.To)
		if err != nil {
			return nil // reported below
		}
		return []*release.Revision{goal}
	})
	if err != nil {
		return plan.Input{}, err
	}
	for _, c := range g.corrupt {
		if c.Version == r.To && r.To != 0 {
			return plan.Input{}, c
		}
	}
	goal, err := rollbackGoal(g.history, key, r.To)
	if err != nil {
		return plan.Input{}, err
	}
	last := g.history.Last()
	record := &release.Revision{
		Name: key.Name, Namespace: key.Namespace, Version: last.Version + 1,
		Chart: goal.Chart, Config: goal.Config, Manifest: goal.Manifest, Labels: labels(r.Options.Labels, release.History{goal}),
		Info: release.Info{
			Status: release.StatusUnknown, Notes: goal.Info.Notes,
			FirstDeployed: last.Info.FirstDeployed, RollbackRevision: goal.Version,
		},
	}
	for _, h := range goal.Hooks {
		record.Hooks = append(record.Hooks, release.Hook{Hook: h.Hook})
	}
	target, err := newTarget(record, nil, plan.ChartOf(goal.Chart))
	if err != nil {
		return plan.Input{}, err
	}
	in := e.input(plan.Rollback, key, r.Options, g)
	in.Options.ServerSide = r.ServerSide.resolveRollback(goal)
	record.ApplyMethod = applyMethod(in.Options.ServerSide)
	in.Target, in.RollbackTo, in.Spare = &target, goal.Version, r.Spare
	in.Values = valuesChanges(g.history, record)
	return in, nil
}

// rollbackGoal returns the revision to roll back to. If to is 0, that is the last successful one
// before the newest. Helm takes the one before the newest even if it failed (Helm 4.3.1,
// pkg/action/rollback.go, prepareRollback).
func rollbackGoal(h release.History, key release.Key, to int) (*release.Revision, error) {
	last := h.Last()
	if last == nil {
		return nil, &NoReleaseError{Key: key, Operation: plan.Rollback}
	}
	if to != 0 {
		if goal := h.Revision(to); goal != nil {
			return goal, nil
		}
		return nil, &NoRevisionError{Key: key, Revision: to}
	}
	for _, r := range slices.Backward(h[:len(h)-1]) {
		if r.Succeeded() {
			return r, nil
		}
	}
	return nil, fmt.Errorf("release %s has no earlier successful revision to roll back to", key)
}
