package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// hookCascade is the deletion propagation policy for hooks (Helm 4.3.1, pkg/action/hooks.go,
// deleteHookByPolicy).
const hookCascade = "background"

// place decides what happens to an existing object with the hook's name. needed reports whether it
// has to be deleted first, which the step room does. An object that an earlier hook of the same
// plan leaves behind belongs to this run.
func (b *builder) place(run *Step) (room Step, needed bool) {
	left, again := b.lastRuns[run.Object]
	switch {
	case b.clashes(run):
		return Step{}, false
	case b.converts(run):
		room, needed = b.convert(run)
	case again:
		room, needed = b.placeAgain(run, left)
	default:
		room, needed = b.namesake(run)
	}
	lost := b.lostWith(&room)
	if run.InPlace() { // what a hook creates anew has nothing in it yet
		lost = ""
		if after, asked := deletionAfter(*run); asked && after.When != WhenFailed { // a conversion that fails deletes nothing
			lost = b.lostWith(&after)
		}
	}
	if lost != "" {
		b.forbidHook(run, ProblemConflict, lost, "make the hook a resource of the chart")
	}
	if run.Op == OpNone {
		return Step{}, false
	}
	b.lastRuns[run.Object] = run
	return room, needed
}

// placeAgain does what place does for an object that an earlier hook of this plan creates.
func (b *builder) placeAgain(run, left *Step) (room Step, needed bool) {
	run.Expect = Expect{Absent: true}
	switch {
	case run.Object.IsCRD(): // CRDs of hooks are never deleted
		run.Expect = left.Expect
		return Step{}, false
	case left.Hook.Event != run.Hook.Event && left.Hook.Deletes(manifest.HookSucceeded):
		return Step{}, false
	case !run.Hook.Deletes(manifest.BeforeHookCreation):
		b.forbidHook(run, ProblemConflict, fmt.Sprintf("its %s hook leaves it behind, and the delete policy of the %s hook does not allow removing it", left.Hook.Event, run.Hook.Event),
			"add before-hook-creation to its helm.sh/hook-delete-policy")
		return Step{}, false
	}
	room = replacing(run, nil, fmt.Sprintf("its %s hook left it behind", left.Hook.Event))
	room.Of = left.ID
	return room, true
}

// replacing returns the step that deletes the object with the hook's name before the hook runs, and
// waits until it is gone. live is nil if an earlier step of the plan creates that object.
func replacing(run *Step, live *unstructured.Unstructured, why string) Step {
	run.Expect = Expect{Absent: true}
	room := hookDeletion(run, "before", why)
	room.Before = live
	if live != nil {
		room.Expect = Expect{UID: live.GetUID()}
	}
	return room
}

// deletionAfter returns the step that deletes a hook's object after its run, following its delete
// policy; asked is false if the policy asks for none. CRDs of hooks are never deleted: that would
// delete every object of their kinds.
func deletionAfter(run Step) (deletion Step, asked bool) {
	policies := slices.DeleteFunc([]manifest.Policy{manifest.HookSucceeded, manifest.HookFailed}, func(p manifest.Policy) bool { return !run.Hook.Deletes(p) })
	if len(policies) == 0 || run.Object.IsCRD() {
		return Step{}, false
	}
	words := make([]string, len(policies))
	for i, p := range policies {
		words[i] = string(p)
	}
	deletion = hookDeletion(&run, "after", "its delete policy is "+strings.Join(words, ","))
	deletion.Of, deletion.When = run.ID, WhenAlways
	if len(policies) == 1 {
		deletion.When = map[manifest.Policy]When{manifest.HookSucceeded: WhenSucceeded, manifest.HookFailed: WhenFailed}[policies[0]]
	}
	if run.InPlace() {
		deletion.Before, deletion.Why = run.outcome(), converted+", and "+deletion.Why
	}
	return deletion, true
}

// deletedByHook reports whether a hook of this plan is the object, and is deleted once it has succeeded.
func (b *builder) deletedByHook(id manifest.ID) bool {
	run := b.lastRuns[id]
	if run == nil {
		return false
	}
	deletion, asked := deletionAfter(*run)
	return asked && deletion.When != WhenFailed
}

func hookDeletion(run *Step, name, why string) Step {
	hook := *run.Hook
	return Step{
		ID: run.ID + "/" + name, Op: OpDelete, Object: run.Object, APIVersion: run.APIVersion, Source: run.Source,
		Cascade: hookCascade, Fidelity: FidelityExact, Why: why, Hook: &hook,
	}
}
