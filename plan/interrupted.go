package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// interruptedStage deletes what the hooks of an interrupted run have left, and waits until it is gone: a Job
// that is still running would go on working beside this plan. Where this plan runs a hook of the same name,
// that one deletes it. What holds more than what is in it, such as a namespace, stays; so does everything if
// hooks are not to be run.
func (b *builder) interruptedStage() {
	last := b.in.History.Last()
	if last == nil || !last.Info.Status.Pending() || b.in.Resume || b.in.Against != nil || b.in.Options.NoHooks {
		return
	}
	settled := map[manifest.ID]bool{} // other stages decide about them
	for _, o := range b.in.HooksToRun() {
		settled[o.ID] = true
	}
	for _, s := range b.in.Stored {
		settled[s.ID] = true
	}
	var steps []Step
	for i, objects := range b.in.StoredHookObjects {
		h := last.Hooks[i]
		for _, o := range objects {
			if settled[o.ID] || b.wants(o.ID) || holdsData(o.ID) {
				continue
			}
			if why := b.interrupted(h, o.ID); why != "" {
				settled[o.ID] = true
				steps = append(steps, b.leftover(h, o, why))
			}
		}
	}
	if len(steps) > 0 {
		b.stage(StageInterrupted, []Wave{{Steps: steps}})
	}
}

// interrupted says why a live object is to be deleted that a hook of an interrupted run has left; "" if it is
// not. The records of most runs do not say which hooks have begun, so the object's state decides: one that is
// still running goes whatever its delete policies are, one that has ended only by those. One that is annotated
// with helm.sh/resource-policy: keep stays.
func (b *builder) interrupted(h release.Hook, id manifest.ID) string {
	live := b.live(id).Object
	tests := !slices.ContainsFunc(h.Events, func(e manifest.Event) bool { return e != manifest.Test })
	if live == nil || live.GetDeletionTimestamp() != nil || tests || hasKeepPolicy(live) || !b.leftByHook(id, live) {
		return ""
	}
	state := readiness.HookDone(live, readiness.Context{}).State
	switch {
	case state == readiness.Progressing:
		return "the interrupted run started it, and it is still running"
	case state == readiness.Ready && h.Deletes(manifest.HookSucceeded):
		return "the interrupted run did not, as its delete policy " + string(manifest.HookSucceeded) + " asks"
	case state == readiness.Failed && h.Deletes(manifest.HookFailed):
		return "the interrupted run did not, as its delete policy " + string(manifest.HookFailed) + " asks"
	}
	return ""
}

// leftover returns the step that deletes what a hook of the newest revision has left. It is no HookDeletion:
// no hook of this plan creates the object again. Its pods go first, which a deletion in the background would
// not wait for.
func (b *builder) leftover(h release.Hook, o manifest.Object, why string) Step {
	live := b.live(o.ID).Object
	return Step{
		ID: stepID(StageInterrupted, o.ID), Op: OpDelete, Object: o.ID, APIVersion: apiVersion(o.Group, b.version(o)), Source: h.Path,
		Cascade: "foreground", Before: live, Expect: Expect{UID: live.GetUID()}, Fidelity: FidelityExact, Why: why,
	}
}

// leavesLeftovers says what happens if what the hooks of an interrupted run have left can't be deleted, or is
// not gone in time; "" if that ends the run. An uninstall and a rollback go on: they are the way out of what
// the interrupted run has begun.
func (p *Document) leavesLeftovers() string {
	if p.Operation == Uninstall || p.Operation == Rollback {
		return "what a hook of the interrupted run has left stays"
	}
	return ""
}

// MayLeave reports whether the run goes on if a step of the stage fails, with no more than a warning.
func (p *Document) MayLeave(stage StageName) bool {
	return stage == StageInterrupted && p.leavesLeftovers() != ""
}
