package decision

import (
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// OnFailure is what follows when an install or upgrade fails after it has
// written a record.
type OnFailure struct {
	// Action is RollBack, Uninstall, Upgrade (RetryOnFailure, or a lost target) or
	// Stall.
	Action Action
	// Target is the revision to roll back to, also if its record is lost.
	Target int
	// Retries is how often it is retried; a negative number means for ever.
	Retries int
	// Interval is that of RetryOnFailure.
	Interval time.Duration
	// NoTarget reports whether a rollback is asked for and there is nothing to roll
	// back to: helm-controller stalls with MissingRollbackTarget.
	NoTarget bool
}

// String returns a sentence without a full stop.
func (f OnFailure) String() string {
	retries := fmt.Sprintf("retried up to %d times", f.Retries)
	if f.Retries < 0 {
		retries = "retried forever"
	}
	switch {
	case f.NoTarget:
		return "if it fails there is no rollback target: the HelmRelease stalls"
	case f.Action == Upgrade && f.Target > 0:
		return fmt.Sprintf("if it fails it is tried again without a rollback every time: the record of revision %d, the target, is gone by then or was changed", f.Target)
	case f.Action == Upgrade:
		return fmt.Sprintf("if it fails it is tried again every %s", f.Interval)
	case f.Action == RollBack:
		return fmt.Sprintf("if it fails it is rolled back to revision %d and %s", f.Target, retries)
	case f.Action == Uninstall:
		return "if it fails the release is uninstalled, including the objects it has adopted, and " + retries
	}
	return "if it fails the HelmRelease stalls and the failed revision stays"
}

// onFailure predicts what follows if the decision's install or upgrade fails: the
// history then is the failed revision on top of today's, or only the failed one
// where helm-controller clears the history.
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
		out.NoTarget, out.Target = !ok, target.Version
		switch {
		case ok && in.verified(target) && !in.pruned(target.Version):
			out.Action = RollBack
		case ok:
			out.Action, out.Retries = Upgrade, -1
		}
	}
	return out
}

// pruned reports whether a record is deleted when the next one is written: before writing
// one, Helm deletes the oldest beyond spec.maxHistory, except for the newest that is
// deployed (Helm 4, pkg/storage Create).
func (in Input) pruned(version int) bool {
	keep := in.HelmRelease.MaxHistory() - 1
	if keep < 0 {
		return false
	}
	records := release.NewHistory(in.Records)
	excess, up := len(records)-keep, records.Deployed()
	for _, r := range records {
		switch {
		case excess <= 0:
			return false
		case r == up:
		case r.Version == version:
			return true
		default:
			excess--
		}
	}
	return false
}
