package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Uninstall says how to remove a release.
type Uninstall struct {
	Options plan.Options
	// Spare selects objects that are kept.
	Spare plan.Spare
	// AsSuccessor plans as if the newest revision, if it is pending, had failed, as PlanSuccessor does.
	AsSuccessor bool
}

// PlanUninstall plans the removal of a release. It returns a *NoReleaseError if there is none.
func (e *Engine) PlanUninstall(ctx context.Context, key release.Key, u Uninstall) (*plan.Plan, error) {
	in, err := e.uninstall(ctx, key, u)
	if err != nil {
		return nil, err
	}
	return e.decide(ctx, in)
}

// uninstall gathers the input for PlanUninstall.
func (e *Engine) uninstall(ctx context.Context, key release.Key, u Uninstall) (plan.Input, error) {
	gather := e.gather
	if u.AsSuccessor {
		gather = e.gatherGivenUp
	}
	g, err := gather(ctx, key)
	if err != nil {
		return plan.Input{}, err
	}
	if last := g.history.Last(); last == nil {
		return plan.Input{}, &NoReleaseError{Key: key}
	}
	in := e.input(plan.Uninstall, key, u.Options, g)
	in.Spare = u.Spare
	return in, nil
}

// PlanTest plans the test hooks of the newest revision.
func (e *Engine) PlanTest(ctx context.Context, key release.Key, o plan.Options) (*plan.Plan, error) {
	in, err := e.newest(ctx, plan.Test, key, o)
	if err != nil {
		return nil, err
	}
	return e.decide(ctx, in)
}

// newest gathers the input for an operation whose target is the newest revision. It returns a
// *NoReleaseError if there is none.
func (e *Engine) newest(ctx context.Context, operation plan.Operation, key release.Key, o plan.Options) (plan.Input, error) {
	g, err := e.gather(ctx, key)
	if err != nil {
		return plan.Input{}, err
	}
	last := g.history.Last()
	if last == nil {
		return plan.Input{}, &NoReleaseError{Key: key}
	}
	target, err := newTarget(last, nil, plan.ChartOf(last.Chart))
	if err != nil {
		return plan.Input{}, err
	}
	in := e.input(operation, key, o, g)
	in.Target = &target
	return in, nil
}

// NoReleaseError says that there is no such release.
type NoReleaseError struct {
	Key release.Key
	// Operation is the upgrade or rollback that needs it; "" for others.
	Operation plan.Operation
}

// Error contains Helm's text, which scripts look for (Helm 4.3.1, pkg/storage/driver/driver.go,
// ErrReleaseNotFound and NewErrNoDeployedReleases).
func (e *NoReleaseError) Error() string {
	if e.Operation == plan.Upgrade {
		return fmt.Sprintf("there is no release %s to upgrade (%q has no deployed releases)", e.Key, e.Key.Name)
	}
	if e.Operation == plan.Rollback {
		return fmt.Sprintf("there is no release %s to roll back (release: not found)", e.Key)
	}
	return fmt.Sprintf("there is no release %s in namespace %s (release: not found)", e.Key.Name, e.Key.Namespace)
}

// NoRevisionError says that a release has no such revision.
type NoRevisionError struct {
	Key      release.Key
	Revision int
}

// Error ends as that of NoReleaseError does: Helm has one text for both.
func (e *NoRevisionError) Error() string {
	return fmt.Sprintf("release %s has no revision %d (release: not found)", e.Key.Name, e.Revision)
}
