package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/plan"
)

// rollBack restores the revision that the decision names.
func (p *pass) rollBack(ctx context.Context, d decision.Decision) error {
	target := p.input.Records[slices.IndexFunc(p.input.Records, revision(d.Target))]
	o, side := p.rollingBack(target)
	var kept []string
	outcome, err := p.apply(ctx, func(ctx context.Context) (*plan.Plan, error) {
		spare, err := p.spare(ctx, target)
		if err != nil {
			return nil, err
		}
		made, err := p.engine.PlanRollback(ctx, p.key(), engine.Rollback{To: d.Target, ServerSide: side, Options: o, Spare: spare})
		if err == nil {
			kept = spared(made, spare)
		}
		return made, err
	})
	if left(err) || locked(err) {
		return err
	}
	if outcome.Recorded {
		p.tellKept(kept)
	}
	defer p.summarize()
	return p.rolledBack(ctx, d.Target, outcome, err)
}

// rolledBack records the outcome of a rollback to a revision: err is why it has failed. An
// error means that it has left no record, or is worth a retry.
func (p *pass) rolledBack(ctx context.Context, to int, outcome apply.Outcome, err error) error {
	history := p.hr.Status.Snapshots()
	prev := history[slices.IndexFunc(history, func(s flux.Snapshot) bool { return s.Version == to })]
	if outcome.Recorded {
		if err := p.recorded(ctx, outcome.Revision, actionRollback, actionRollback, ""); err != nil {
			return err
		}
		p.inventory(ctx, outcome.Revision)
	}
	message := fmt.Sprintf("Helm rollback to previous release %s with chart %s", full(prev), versionedChart(prev))
	told := Event{Reason: "RollbackSucceeded", Message: message + " succeeded", Metadata: metadata(prev.ChartVersion, p.input.ValuesDigest, prev.AppVersion, prev.OCIDigest)}
	superseded := err != nil && errors.Is(context.Cause(ctx), ErrSuperseded)
	switch {
	case err == nil:
		p.unrendered()
	case superseded: // which does not count as a failure
		told.Reason, told.Message = canceled, message+" was cancelled during its wait: a newer plan replaces it"
	default:
		p.hr.Status.Failures++
		told.Warning, told.Reason, told.Message = true, "RollbackFailed", message+" failed: "+err.Error()
	}
	p.mark(remediated, truth(err == nil), told.Reason, told.Message)
	p.tell(told)
	if !superseded && (!outcome.Recorded || apply.Passes(err)) {
		return err
	}
	return nil
}

func truth(yes bool) metav1.ConditionStatus {
	if yes {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// remedyByUninstall removes a release that has failed.
func (p *pass) remedyByUninstall(ctx context.Context, _ decision.Decision) error {
	_, changed, err := p.takeDown(ctx, actionRemedy)
	if left(err) || locked(err) {
		return err
	}
	cur := p.hr.Status.Snapshots()[0]
	message := fmt.Sprintf("Helm uninstall remediation for release %s with chart %s", full(cur), versionedChart(cur))
	if err != nil {
		p.hr.Status.Failures++
		message += " failed: " + err.Error()
		p.mark(remediated, metav1.ConditionFalse, reasonNotUninstalled, message)
		p.tellOf(cur, true, reasonNotUninstalled, message)
		if !changed || apply.Passes(err) {
			return err
		}
		return nil
	}
	message += " succeeded"
	p.mark(remediated, metav1.ConditionTrue, reasonUninstalled, message)
	p.tellOf(cur, false, reasonUninstalled, message)
	return nil
}
