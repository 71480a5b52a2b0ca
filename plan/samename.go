package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// A chart may have an object both as a resource and as a hook. Before the hook runs, Helm deletes the
// resource by the hook's policy; it creates the resource again if nothing is left of the hook when it comes
// to the resources, and otherwise changes what the hook has left (3.22.0 and 4.3.1, pkg/action/hooks.go,
// execHook, and pkg/kube/client.go, update). Here the resource is always created again, since the hook's
// object is deleted before that, whatever its policy.

// clashes forbids a hook whose object is also a resource of the release if that object would not be there
// in the end, or not with what it holds, also with Options.AsHelm. CRDs of hooks are never deleted.
func (b *builder) clashes(run *Step) bool {
	at, both := b.targets[run.Object]
	if !both {
		return false
	}
	pre, _, _ := moments(b.in.Operation)
	var why string
	switch {
	case run.Object.IsCRD():
		why = "only one of the two can create it"
	case run.Hook.Event != pre, b.in.Operation == Test:
		why = "the hook would take the resource's place"
	case holdsData(run.Object):
		why = "what the resource holds would be deleted to make room for the hook"
	default:
		return false
	}
	what := fmt.Sprintf("the chart has it as a resource in %s and as a %s hook in %s: %s", b.in.Target.Objects[at].Source, run.Hook.Event, run.Source, why)
	b.forbidHook(run, ProblemInvalid, what, "give one of the two another name")
	return true
}

// yields changes the delete policies of a hook whose object is also a resource: it is deleted once it has
// succeeded, so that the resource can be created.
func (b *builder) yields(id manifest.ID, h manifest.Hook) manifest.Hook {
	if !b.wants(id) || h.Deletes(manifest.HookSucceeded) {
		return h
	}
	policies := []manifest.Policy{manifest.HookSucceeded}
	for _, p := range []manifest.Policy{manifest.BeforeHookCreation, manifest.HookFailed} {
		if h.Deletes(p) {
			policies = append(policies, p)
		}
	}
	h.DeletePolicies = policies
	return h
}

// isBehindHook reports whether the object is a resource whose name a hook of this plan has before it. A
// comparison with something else than live objects is about what changes in the resource.
func (b *builder) isBehindHook(id manifest.ID) bool {
	_, hook := b.lastRuns[id]
	return hook && b.in.Against == nil
}

// createBehindHook turns the step into the creation of a resource that isBehindHook.
func (b *builder) createBehindHook(step *Step, o manifest.Object) {
	step.Op, step.Body, step.Why = OpCreate, b.sent(o.Doc), "once the hook of the same name is gone"
	if hook := b.lastRuns[o.ID]; hook.Op == OpDelete { // an interrupted run has run the hook
		step.Expect = hook.Expect
	} else {
		step.Of, step.Expect = hook.ID, Expect{Absent: true}
	}
	if b.in.Options.ServerSide {
		step.PatchType = types.ApplyPatchType
	}
	if b.live(o.ID).Object == nil {
		b.predict(step, step.Body)
	} else {
		b.estimated(step, step.Body, "its name is still taken")
	}
	b.checkCustomResource(step)
}
