package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// made reports whether the newest record is what the last attempt in the status was to
// make, without the status telling its outcome: the process that made it has died.
func (p *pass) made(last *release.Revision) bool {
	s, history := p.hr.Status, p.hr.Status.Snapshots()
	if len(history) > 0 && history[0].Version+1 != last.Version || last.Chart == nil || last.Chart.Metadata == nil {
		return false
	}
	if last.Info.RollbackRevision != 0 {
		return p.acting == actionRollback && slices.ContainsFunc(history, func(s flux.Snapshot) bool { return s.Version == last.Info.RollbackRevision })
	}
	config, err := digest.Values(last.Config)
	return err == nil && s.LastAttemptedReleaseAction != "" && last.Chart.Metadata.Version == s.LastAttemptedRevision &&
		(config == s.LastAttemptedConfigDigest || upgrade(p.hr).PreserveValues) && p.ofThis(last)
}

// ofThis reports whether all objects of the revision, if it has any, carry this
// HelmRelease's labels.
func (p *pass) ofThis(r *release.Revision) bool {
	objects, err := r.Objects()
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(objects, func(o manifest.Object) bool {
		labels := o.Doc.GetLabels()
		for name, text := range p.hr.Origin() {
			if labels[name] != text {
				return true
			}
		}
		return false
	})
}

// What is around an action's name in helm-controller's message that it is being carried out.
const (
	runningBefore = "Running '"
	runningAfter  = "' action with timeout of "
)

// running returns that message.
func running(a action) string { return runningBefore + a.name + runningAfter + a.timeout.String() }

// underway returns the action that the status says is being carried out, "" for none.
func underway(hr *flux.HelmRelease) string {
	c := flux.Condition(hr.Status.Conditions, reconciling)
	if c == nil || c.Reason != progressing {
		return ""
	}
	_, rest, _ := strings.Cut(c.Message, runningBefore)
	name, _, _ := strings.Cut(rest, runningAfter)
	return name
}

// catchUp records the outcome of an action whose process has died, or could not write the status,
// after its last record: otherwise the record would count as somebody else's, the history would be
// lost, and the action would be done once more. other says that the HelmRelease, its chart or its
// values have changed since the action began: what it made is then no reason to be ready.
func (p *pass) catchUp(ctx context.Context, other bool) error {
	last, history := p.newest(), p.hr.Status.Snapshots()
	if other && len(history) == 0 && p.acting == "" {
		return nil
	}
	if p.standing || last == nil || len(history) > 0 && history[0].Version >= last.Version || !p.made(last) || !p.load(ctx) {
		return nil
	}
	outcome := apply.Outcome{Recorded: true, Revision: last}
	var failure error
	switch last.Info.Status {
	case release.StatusDeployed:
		if err := p.engine.Tidy(ctx, p.key(), releasestore.LockOptions{Wait: lockWait}); err != nil {
			return p.failed(p.safe(p.ended(err)))
		}
	case release.StatusFailed:
		_, text, _ := strings.Cut(last.Info.Description, " failed: ")
		failure = p.safe(errors.New(text))
	case release.StatusUnknown, release.StatusUninstalled, release.StatusSuperseded, release.StatusUninstalling,
		release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusPendingRollback:
		return nil
	}
	if other {
		defer func(c *chart.Chart, values string) { p.chart, p.input.ValuesDigest = c, values }(p.chart, p.input.ValuesDigest)
		p.chart = last.Chart
	} else {
		defer p.summarize()
	}
	var err error
	if last.Info.RollbackRevision != 0 {
		err = p.rolledBack(ctx, last.Info.RollbackRevision, outcome, failure)
	} else {
		err = p.attempted(ctx, p.hr.Status.LastAttemptedReleaseAction, outcome, failure)
	}
	p.readRecords(ctx)
	return err
}

// recall puts the first revision into the history, if the process that made it has died before it
// could: it is then uninstalled with the HelmRelease.
func (p *pass) recall(ctx context.Context) error {
	s := &p.hr.Status
	if len(s.History) > 0 || s.LastAttemptedReleaseAction == "" {
		return nil
	}
	if err := p.open(ctx, p.hr.ReleaseNamespace(), s.StorageNamespace); err != nil {
		return err
	}
	p.readRecords(ctx)
	last := p.newest()
	if err := p.input.Obstacles.Records; err != nil || last == nil || last.Info.Status == release.StatusUninstalled || !p.made(last) {
		return err
	}
	first, err := snapshot(last, string(s.LastAttemptedReleaseAction), s.LastAttemptedRevisionDigest)
	if err == nil {
		s.History = []flux.Snapshot{first}
	}
	return err
}

// resuming returns the action that continues what is pending.
func (p *pass) resuming() action {
	hr := p.hr
	op := plan.PendingOperation(p.newest().Info.Status)
	if op == plan.Install {
		return action{"install", releasing, hr.TimeoutOf(install(hr).Timeout), p.resume}
	}
	if op == plan.Rollback {
		return action{"rollback", remediating, hr.TimeoutOf(rollback(hr).Timeout), p.resume}
	}
	return action{"upgrade", releasing, hr.TimeoutOf(upgrade(hr).Timeout), p.resume}
}

// resume continues a revision that a run which has died left pending: with the same
// revision, and without the hooks that have finished.
func (p *pass) resume(ctx context.Context, d decision.Decision) error {
	last := p.newest()
	var o plan.Options
	if op := plan.PendingOperation(last.Info.Status); op == plan.Install {
		o, _ = p.installing()
	} else if op == plan.Rollback {
		o, _ = p.rollingBack(last)
	} else {
		o, _ = p.upgrading(last)
	}
	_, outcome, err := p.engine.Resume(ctx, engine.Resumption{
		Release: p.key(), Lock: releasestore.LockOptions{Wait: lockWait}, Options: o, Secrets: p.secrets,
	}, func(made *plan.Plan) error {
		p.seen(made)
		if err := made.WhyBlocked(); err != nil {
			return fmt.Errorf("%w: %w", engine.ErrNotResumable, err)
		}
		p.planned(made)
		return p.write(ctx)
	})
	if err = p.safe(p.ended(err)); left(err) {
		return err
	}
	defer p.summarize()
	switch {
	case errors.Is(err, engine.ErrNotResumable):
		return p.unlock(ctx, d)
	case locked(err), err != nil && !outcome.Recorded:
		return err
	case last.Info.Status == release.StatusPendingRollback:
		return p.rolledBack(ctx, last.Info.RollbackRevision, outcome, err)
	}
	return p.attempted(ctx, p.hr.Status.LastAttemptedReleaseAction, outcome, err)
}
