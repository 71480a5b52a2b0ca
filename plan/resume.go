package plan

import (
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Resumes reports whether the plan continues a revision that an interrupted run recorded as
// pending, instead of writing a new one.
func (p *Plan) Resumes() bool {
	return p.FoundPending && p.FromRevision == p.ToRevision &&
		(p.Operation == Install || p.Operation == Upgrade || p.Operation == Rollback)
}

// PendingOperation returns the operation that a revision of this status was left by; "" if the status is
// not a pending one.
func PendingOperation(s release.Status) Operation {
	switch s {
	case release.StatusPendingInstall:
		return Install
	case release.StatusPendingUpgrade:
		return Upgrade
	case release.StatusPendingRollback:
		return Rollback
	case release.StatusUnknown, release.StatusDeployed, release.StatusUninstalled, release.StatusSuperseded, release.StatusFailed, release.StatusUninstalling:
	}
	return ""
}

// Resumable reports whether a pending revision can be resumed: this tool recorded it, with the
// outcomes of its hooks, so the remaining work is known. A revision with a hook that has failed, that
// runs both before and after the resources, or that has several objects, can't be
// resumed.
func Resumable(r *release.Revision) bool {
	op := PendingOperation(r.Info.Status)
	if op == "" || r.Info.Description != pendingDescription(op) {
		return false
	}
	pre, post, _ := moments(op)
	for _, h := range r.Hooks {
		if !h.On(pre) && !h.On(post) {
			continue
		}
		objects, err := h.Objects()
		if h.LastRun.Phase == release.PhaseFailed || h.On(pre) && h.On(post) || err != nil || len(objects) > 1 {
			return false
		}
	}
	return true
}

// resumed returns what remains to be done for a hook that the interrupted run has started: a hook
// that has succeeded is not run again, and one that is still running is waited for. begun is false
// for all other hooks.
func (b *builder) resumed(run *Step) (left []Step, begun bool) {
	if !b.in.Resume {
		return nil, false
	}
	live := b.live(run.Object).Object
	there := live != nil && live.GetDeletionTimestamp() == nil
	switch b.in.Target.Record.Hooks[run.Hook.Index].LastRun.Phase {
	case release.PhaseSucceeded:
		again := there && b.wants(run.Object) && Owns(b.in.Release, live) // the interrupted run has created the resource behind it
		if !there || again || run.Object.IsCRD() || !run.Hook.Deletes(manifest.HookSucceeded) {
			return nil, true
		}
		deletion := hookDeletion(run, "after", "its delete policy is "+string(manifest.HookSucceeded))
		deletion.Before, deletion.Expect = live, Expect{UID: live.GetUID()}
		return []Step{deletion}, true
	case release.PhaseRunning:
		if !there || !run.Object.RunsToItsEnd() {
			return nil, false // it was not created, or can simply be created again
		}
		run.Hook.Underway = true
		run.Before, run.Expect, run.Why = live, Expect{UID: live.GetUID()}, "the interrupted run started it"
		return []Step{*run}, true
	case release.PhaseUnknown, release.PhaseFailed:
	}
	return nil, false
}
