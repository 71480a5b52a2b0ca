package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// StaleError says that a reviewed plan no longer matches what would be done.
type StaleError struct{ Differences []string }

func (e *StaleError) Error() string {
	return "the plan is stale:\n  " + strings.Join(e.Differences, "\n  ")
}

func staleError(differences []plan.Difference) error {
	out := &StaleError{}
	for _, d := range differences {
		out.Differences = append(out.Differences, d.String())
	}
	return out
}

// Replan plans the same target again: nothing is rendered, but everything is read from the cluster
// again. The new plan lacks p's warnings from rendering.
func (e *Engine) Replan(ctx context.Context, p *plan.Plan) (*plan.Plan, error) {
	g, err := e.gather(ctx, p.Release)
	if err != nil {
		return nil, err
	}
	return e.replan(ctx, p, g, p.Operation, p.Record)
}

// servedAfter is how long it may take the API server to serve a new kind and list it in discovery.
const servedAfter = 15 * time.Second

// ReplanWhenServed is Replan for a plan whose kinds may have been created a moment ago: while the
// plan is blocked, it plans again, for up to servedAfter.
func (e *Engine) ReplanWhenServed(ctx context.Context, p *plan.Plan) (*plan.Plan, error) {
	const pause = time.Second
	deadline := e.Now().Add(servedAfter)
	for {
		fresh, err := e.Replan(ctx, p)
		if err != nil || !fresh.Blocked() || e.Now().After(deadline) {
			return fresh, err
		}
		if err := retry.Pause(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// PlanOnward plans the target of a reviewed plan from the release's present state, even if that is
// not the revision that the plan started from, and returns the differences from the reviewed plan.
func (e *Engine) PlanOnward(ctx context.Context, p *plan.Plan) (*plan.Plan, []plan.Difference, error) {
	g, err := e.gather(ctx, p.Release)
	if err != nil {
		return nil, nil, err
	}
	op, record := p.Operation, p.Record
	if last := g.history.Last(); last != nil && record != nil && op != plan.Test {
		next := *record
		next.Version = last.Version + 1
		if op == plan.Install && last.Info.Status != release.StatusUninstalled && (!p.Options.Replace || !replaceable(last)) {
			op = plan.Upgrade
		}
		if op != plan.Install {
			next.Info.FirstDeployed = last.Info.FirstDeployed
		}
		record = &next
	}
	fresh, err := e.replan(ctx, p, g, op, record)
	if err != nil {
		return nil, nil, err
	}
	return fresh, e.differences(ctx, p, fresh), nil
}

// differences returns those of plan.Stale, with the field managers that changed the objects.
func (e *Engine) differences(ctx context.Context, reviewed, fresh *plan.Plan) []plan.Difference {
	found := plan.Stale(reviewed, fresh)
	versions := map[manifest.ID]string{}
	fresh.AllSteps(func(_ plan.StageName, s *plan.Step) {
		versions[s.Object] = schema.FromAPIVersionAndKind(s.APIVersion, s.Object.Kind).Version
	})
	var wanted []apply.Ref
	for _, d := range found {
		if len(d.Changes) > 0 {
			wanted = append(wanted, apply.Ref{ID: d.Object, Version: versions[d.Object]})
		}
	}
	if len(wanted) == 0 {
		return found
	}
	live, err := e.Cluster.Observe(ctx, wanted)
	if err != nil {
		return found // the difference itself is what matters
	}
	for i, d := range found {
		found[i] = d.By(live[d.Object], e.Now())
	}
	return found
}

// replan decides from what was gathered, with record as the target, without rendering. A test is one of
// the newest revision as it is stored now: the record keeps the outcomes of its hooks.
func (e *Engine) replan(ctx context.Context, p *plan.Plan, g gathered, op plan.Operation, record *release.Revision) (*plan.Plan, error) {
	in := e.input(op, p.Release, p.Options, g)
	in.RollbackTo, in.Secrets = p.RollbackTo, p.Secrets
	if last := g.history.Last(); op == plan.Test && last != nil {
		record = last
	}
	if record != nil {
		target, err := newTarget(record, p.CRDs, p.ChartTo)
		if err != nil {
			return nil, err
		}
		target.Source, target.Lock = p.ChartSource, p.ChartLock
		in.Target = &target
		if p.Operation != plan.Test {
			in.Values = valuesChanges(g.history, record)
		}
	}
	return e.decide(ctx, in)
}

// fresh plans a reviewed plan again. It returns a *StaleError if the result differs.
func (e *Engine) fresh(ctx context.Context, p *plan.Plan) (*plan.Plan, error) {
	fresh, err := e.Replan(ctx, p)
	if err != nil {
		return nil, err
	}
	if differences := e.differences(ctx, p, fresh); len(differences) > 0 {
		return nil, staleError(differences)
	}
	return fresh, nil
}

// Check checks whether a reviewed plan still holds, without writing anything. It
// returns a *StaleError if it does not.
func (e *Engine) Check(ctx context.Context, p *plan.Plan) error {
	_, err := e.fresh(ctx, p)
	return err
}

// ApplyReviewed applies exactly what was reviewed: it takes the lock, plans again, and goes on only
// if the new plan is the same. It returns a *plan.ComparedError or apply.ErrBlocked for a plan that
// can't be applied, a *StaleError, a *RolledBackError, or the errors of Locked and apply.Run: among them
// apply.ErrChanged if the plan was stale by the time its namespace was created.
func (e *Engine) ApplyReviewed(ctx context.Context, p *plan.Plan, lock releasestore.LockOptions) (apply.Outcome, error) {
	if err := p.Applicable(); err != nil {
		return apply.Outcome{}, fmt.Errorf("%s: %w", p.Release, err)
	}
	if p.Blocked() {
		return apply.Outcome{}, fmt.Errorf("%s: %w", p.Release, apply.ErrBlocked)
	}
	var outcome apply.Outcome
	renewal := plan.LockRenewal(e.lockKey(p.Release).Namespace, releasestore.LeaseName(p.Release.Name))
	lock.Unusable = e.access(ctx, []plan.Permission{renewal}).Denied[renewal] // another user may have made the plan
	err := e.Locked(ctx, p.Release, lock, func(ctx context.Context, held apply.Lock) error {
		fresh, err := e.fresh(ctx, p)
		if err != nil {
			return err
		}
		outcome, err = e.applyOrRollBack(ctx, fresh, nil, held)
		if errors.Is(err, apply.ErrChanged) && !outcome.Written { // stale means that nothing was
			return &StaleError{Differences: []string{apply.ErrChanged.Error()}}
		}
		return err
	})
	return outcome, err
}
