package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// namesake decides what happens to the live object that has the hook's name. needed reports whether
// it has to be deleted first, which the step room does.
func (b *builder) namesake(run *Step) (room Step, needed bool) {
	live, id := b.live(run.Object), run.Object
	switch {
	case live.Unreadable != "":
		b.unreadable(run, live.Unreadable)
	case live.Object == nil:
		run.Expect = Expect{Absent: true}
		if b.comesFirst(id) {
			b.block(ProblemConflict, id, "--create-namespace creates it, so it would be in the hook's way", "remove the hook from the chart, or let only the hook create the namespace")
		}
	case live.Object.GetDeletionTimestamp() != nil: // the hook waits until it is gone
		run.Expect = Expect{UID: live.Object.GetUID()}
	case id.IsCRD():
		b.definesKinds(run, live.Object)
	default:
		return b.replace(run, live.Object)
	}
	return Step{}, false
}

// definesKinds decides what happens to a hook whose CRD already exists.
func (b *builder) definesKinds(run *Step, live *unstructured.Unstructured) {
	if patch.InSync(run.Body, live, run.Body) {
		run.Before, run.Expect, run.Why = live, Expect{UID: live.GetUID()}, "it is in the cluster, as the hook defines it"
		return
	}
	b.forbid(run, ProblemConflict, "it is already in the cluster and differs from what the hook creates, and hooks never delete CRDs", "move it to crds/, or make the two match by hand")
}

// unreadable forbids a hook if the object with its name could not be read. A missing permission is
// not reported here but together with all others: see checkAccess.
func (b *builder) unreadable(step *Step, why string) {
	kind := b.in.Kinds[step.Object.GroupKind()]
	get := Permission{Verb: "get", Group: step.Object.Group, Resource: kind.Resource, Namespace: step.Object.Namespace, Name: step.Object.Name}
	if kind.Unavailable == "" && !b.in.Access.Denied[get] {
		b.forbid(step, ProblemPermission, "it can't be read, so it may already exist: "+why, "ask for permission to get it, or retry when the API is back")
	}
}

// replace decides whether the live object is deleted to make room for the hook, and forbids the hook if
// it must not be.
func (b *builder) replace(run *Step, live *unstructured.Unstructured) (room Step, needed bool) {
	owner := foreign(live, b.in.Release)
	ours := owner == "" || b.leftByHook(run.Object, live)
	switch {
	case !ours && !b.in.Options.TakeOwnership && !abandoned(run, live, owner):
		if b.forbid(run, ProblemConflict, "it is already in the cluster, and according to the records no hook of this release created it: "+owner,
			"give the hook another name, delete the object by hand, or let the hook replace it with --take-ownership") {
			return Step{}, false
		}
	case !run.Hook.Deletes(manifest.BeforeHookCreation):
		b.forbid(run, ProblemConflict, "it is already in the cluster, and the hook's delete policy does not allow removing it",
			"add before-hook-creation to its helm.sh/hook-delete-policy, or delete it by hand")
		return Step{}, false
	}
	why, resource := "the hook's last run left it behind", owner == "" && b.wants(run.Object)
	switch {
	case !ours:
		why = "a hook takes its place, and " + owner
	case resource:
		why = "the chart also has it as a hook; the resource is created again after that"
	}
	room = replacing(run, live, why)
	room.Hook.Foreign, room.Hook.WasResource = !ours, resource
	return room, true
}

// cutShort reports whether the newest revision's run was killed or has failed and may have left the object of
// its hook, which counts as its own then, whatever the hook's policy is. After a failure that holds only for
// rollbacks and uninstalls, whose hooks are stored ones and may be those that have failed. What holds data is
// deleted only by a policy that says so.
func (b *builder) cutShort(id manifest.ID) bool {
	last := b.in.History.Last()
	if last == nil || b.in.Resume || holdsData(id) {
		return false
	}
	failed := last.Info.Status == release.StatusFailed && (b.in.Operation == Rollback || b.in.Operation == Uninstall)
	if _, has := b.hookOf(last, id); !has || !failed && !b.plan.FoundPending {
		return false
	}
	begun := func(h release.Hook) bool { return h.Holds(id) && h.LastRun.Phase != "" }
	return b.plan.FoundPending || slices.ContainsFunc(last.Hooks, begun)
}

// leftByHook reports whether an earlier run of one of this release's hooks left the live object.
// Hooks carry no ownership metadata (Helm 3.22.0 and 4.3.1, pkg/action/hooks.go, execHook), so the
// stored revisions and the live object's hook annotation decide; items of a List have none.
func (b *builder) leftByHook(id manifest.ID, live *unstructured.Unstructured) bool {
	sent, wasHook := b.wasHook(id)
	return wasHook && (marked(live) || !marked(sent.Doc)) && otherRelease(live, b.in.Release) == ""
}

// marked reports whether an object has a hook annotation.
func marked(live *unstructured.Unstructured) bool {
	_, hook := live.GetAnnotations()[manifest.HookAnnotation]
	return hook
}

// instanceLabel names the instance of an application that an object is part of: charts set it to
// the release's name (kubernetes.io/docs/concepts/overview/working-with-objects/common-labels).
const instanceLabel = "app.kubernetes.io/instance"

// abandoned reports whether a hook of an earlier release left the live object behind without a
// record of it: uninstalling removes the records and leaves the hooks (Helm 3.22.0 and 4.3.1,
// pkg/action/uninstall.go), and the next install runs them again. The object must be marked as a
// hook, belong to no release and no owner, have finished, be part of the same application instance,
// and hold nothing but what a chart put into it.
func abandoned(step *Step, live *unstructured.Unstructured, owner string) bool {
	return owner == nobodys && marked(live) && recreatable(step.Object) && len(live.GetOwnerReferences()) == 0 &&
		sameInstance(live, step.Body) &&
		readiness.HookDone(live, readiness.Context{}).State != readiness.Progressing
}

func sameInstance(a, b *unstructured.Unstructured) bool {
	return manifest.Label(a, instanceLabel) == manifest.Label(b, instanceLabel)
}

// SameHook reports whether a live object may be what was sent for a hook of the release, though it need not
// say the same: it is marked as that one is, part of the same application instance, and belongs to no other
// release.
func SameHook(key release.Key, sent, live *unstructured.Unstructured) bool {
	return marked(live) == marked(sent) && sameInstance(live, sent) && otherRelease(live, key) == ""
}
