package decision

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// release is the core of a pass: it determines the state, and the action for it.
func (in Input) release() Decision {
	f := in.state()
	var d Decision
	switch {
	case f.err != nil:
		d = decide(Fail, "StateError", f.err.Error())
	case f.state == Undetermined:
		d = decide(Unknown, "", f.why)
	default:
		d = in.actionFor(f)
	}
	d.State = f.state
	in.follow(&d)
	return d
}

// actionFor is helm-controller's table of actions. The failure counters are those
// after a reset.
func (in Input) actionFor(f found) Decision {
	hr := in.HelmRelease
	switch f.state {
	case InSync:
		if in.forced() {
			return decide(Upgrade, "Forced", "an upgrade is forced through annotation")
		}
		return decide(Nothing, "InSync", f.why)
	case Locked:
		if in.Resumable && resetReason(in) == "" {
			return decide(Resume, "PendingRelease", f.why+", and will be resumed")
		}
		return decide(Unlock, "PendingRelease", f.why)
	case Absent:
		return in.unlessExhausted(Install, hr.InstallRemedy(), f.why)
	case Unmanaged:
		return decide(Upgrade, "Unmanaged", f.why)
	case OutOfSync:
		return in.unlessExhausted(Upgrade, hr.UpgradeRemedy(), f.why)
	case Drifted:
		if hr.DriftMode() == flux.DriftEnabled {
			return decide(CorrectDrift, "DriftDetected", f.why)
		}
		return decide(Nothing, "DriftDetected", f.why+"; mode warn leaves them as they are")
	case Untested:
		return decide(Test, "", f.why)
	case Failed:
		return in.failed(f.why)
	case Undetermined:
	}
	return decide(Fail, "StateError", "unknown state")
}

func (in Input) unlessExhausted(a Action, r flux.Remedy, why string) Decision {
	switch {
	case !r.Exhausted():
		return decide(a, "", why)
	case in.forced():
		return decide(a, "Forced", fmt.Sprintf("the %s is forced through annotation while out of retries", a))
	}
	return in.exceeded()
}

// exceeded returns the decision when no retries are left, with helm-controller's reason.
func (in Input) exceeded() Decision {
	hr := in.HelmRelease
	active, _ := hr.ActiveRemedy()
	return decide(Stall, "RetriesExceeded", fmt.Sprintf("Failed to %s after %d attempt(s); it is tried again when the generation, the chart's version or the values change",
		hr.Status.LastAttemptedReleaseAction, active.Failures))
}

// failed returns the action for a revision that has failed, or whose test has.
func (in Input) failed(why string) Decision {
	hr := in.HelmRelease
	if retry := hr.ActiveRetry(); retry != nil {
		return decide(Upgrade, flux.RetryOnFailure, fmt.Sprintf("%s and is tried again every %s", why, retry.Interval()))
	}
	remedy, active := hr.ActiveRemedy()
	switch {
	case !active:
		return decide(Upgrade, "", why)
	case remedy.Failures <= 0:
		return decide(Upgrade, "", why+", and something has changed since")
	case in.forced():
		return decide(Upgrade, "Forced", "the upgrade of a failed release is forced through annotation")
	case remedy.Exhausted() && !remedy.Last:
		return in.exceeded()
	case remedy.Strategy == flux.RemedyUninstall:
		return decide(Uninstall, "Remediation", why+" and is remedied by an uninstall")
	}
	target, ok := rollbackTarget(hr.Status.Snapshots(), remedy.IgnoreTests)
	if !ok {
		return decide(Stall, ReasonMissingRollbackTarget, "there is no revision to roll back to")
	}
	if !in.verified(target) {
		return decide(Upgrade, "", fmt.Sprintf("%s; revision %d, the target of a rollback, is gone or was changed", why, target.Version))
	}
	d := decide(RollBack, "Remediation", fmt.Sprintf("%s and is remedied by a rollback to revision %d", why, target.Version))
	d.Target = target.Version
	return d
}

// rollbackTarget returns the newest good snapshot after the first; history is
// sorted, newest first.
func rollbackTarget(history []flux.Snapshot, ignoreTests bool) (flux.Snapshot, bool) {
	for _, s := range history[min(1, len(history)):] {
		if s.Good(ignoreTests) {
			return s, true
		}
	}
	return flux.Snapshot{}, false
}

// verified reports whether the snapshot's record is stored and unchanged.
func (in Input) verified(s flux.Snapshot) bool {
	i := slices.IndexFunc(in.Records, func(r *release.Revision) bool { return r.Version == s.Version })
	if i < 0 {
		return false
	}
	same, err := digest.VerifyRecord(s, in.Records[i])
	return err == nil && same
}

// follow adds what happens after the action when it succeeds, and when it fails.
func (in Input) follow(d *Decision) {
	switch d.Action {
	case Unlock:
		next := in.unlocked().release()
		d.Then = append([]Action{next.Action}, next.Then...)
		d.OnFailure = next.OnFailure
	case Install, Upgrade, Resume:
		if in.HelmRelease.Tests().Enable {
			d.Then = []Action{Test}
		}
		d.OnFailure = in.onFailure(d)
	case RollBack, Uninstall:
		d.Then = []Action{in.afterRemedy(d.Action)}
	case Nothing, Test, CorrectDrift, Stall, Wait, Fail, Unknown:
	}
}

// afterRemedy returns what follows a remediation: another try, while there are
// any left. The install that follows the uninstall of an upgrade has retries of
// its own.
func (in Input) afterRemedy(a Action) Action {
	remedy, _ := in.HelmRelease.ActiveRemedy()
	afterUpgrade := a == Uninstall && in.HelmRelease.Status.LastAttemptedReleaseAction == flux.AttemptUpgrade
	switch {
	case remedy.Exhausted() && !afterUpgrade:
		return Stall
	case a == Uninstall:
		return Install
	}
	return Upgrade
}

// unlocked returns the input after an unlock: the revision has failed, and its
// snapshot, if there is one, says so.
func (in Input) unlocked() Input {
	r := in.newest()
	failed := r.WithStatus(release.StatusFailed, fmt.Sprintf("Release unlocked from stale '%s' state", r.Info.Status))
	records := slices.Clone(in.Records)
	records[slices.Index(records, r)] = failed
	in.Records = records
	next := *in.HelmRelease
	next.Status.History = slices.Clone(next.Status.History)
	for i := range next.Status.History {
		s := &next.Status.History[i]
		if s.Version != failed.Version || s.Name != failed.Name || s.Namespace != failed.Namespace {
			continue
		}
		if sum, err := digest.Record(failed, s.OCIDigest); err == nil {
			s.Digest, s.Status, s.TestHooks = sum, string(failed.Info.Status), nil
		}
	}
	in.HelmRelease = &next
	return in
}
