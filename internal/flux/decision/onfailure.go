package decision

import (
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// OnFailure is what follows when an install or upgrade fails after it has
// written a record.
type OnFailure struct {
	// Action is RollBack, Uninstall, Upgrade (RetryOnFailure) or Stall.
	Action Action
	// Target is the revision that is rolled back to.
	Target int
	// Retries is how often it is tried again, below 0 for ever.
	Retries int
	// Interval is that of RetryOnFailure.
	Interval time.Duration
	// NoTarget says that a rollback is asked for and there is nothing to roll back
	// to: helm-controller stalls with MissingRollbackTarget.
	NoTarget bool
}

// String is a sentence without a full stop.
func (f OnFailure) String() string {
	retries := fmt.Sprintf("retried up to %d times", f.Retries)
	if f.Retries < 0 {
		retries = "retried for ever"
	}
	switch {
	case f.NoTarget:
		return "if it fails there is no rollback target: the HelmRelease stalls"
	case f.Action == Upgrade:
		return fmt.Sprintf("if it fails it is tried again every %s", f.Interval)
	case f.Action == RollBack:
		return fmt.Sprintf("if it fails it is rolled back to revision %d and %s", f.Target, retries)
	case f.Action == Uninstall:
		return "if it fails the release is uninstalled, with objects that it has adopted, and " + retries
	}
	return "if it fails the HelmRelease stalls and the failed revision stays"
}

// onFailure foresees the failure of the decision's install or upgrade: the
// history then is the failed revision on top of today's, or alone, where
// helm-controller clears it.
func (in Input) onFailure(d *Decision) *OnFailure {
	next := *in.HelmRelease
	history := append([]flux.Snapshot{{}}, next.Status.Snapshots()...)
	if d.Action == Install || d.State == Unmanaged {
		history = history[:1]
	}
	next.Status.LastAttemptedReleaseAction = flux.AttemptUpgrade
	if d.Action == Install {
		next.Status.LastAttemptedReleaseAction = flux.AttemptInstall
	}
	if retry := next.ActiveRetry(); retry != nil {
		return &OnFailure{Action: Upgrade, Retries: -1, Interval: retry.Interval()}
	}
	remedy, _ := next.ActiveRemedy()
	remedy.Failures++
	out := &OnFailure{Action: Stall, Retries: max(0, remedy.Retries-int(remedy.Failures)+1)}
	if remedy.Retries < 0 {
		out.Retries = -1
	}
	switch {
	case remedy.Exhausted() && !remedy.Last:
	case remedy.Strategy == flux.RemedyUninstall:
		out.Action = Uninstall
	default:
		target, ok := rollbackTarget(history, remedy.IgnoreTests)
		out.NoTarget = !ok
		if ok {
			out.Action, out.Target = RollBack, target.Version
		}
	}
	return out
}
