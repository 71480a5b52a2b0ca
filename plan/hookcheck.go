package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// hookToCheck reports whether the API server is asked about a hook: not about one that it has accepted
// before, about a test, for which nothing has been changed yet, nor about one whose kind, namespace or
// schema comes with this plan. Nothing may keep a failed run from being undone.
func (b *builder) hookToCheck(step *Step) bool {
	return !b.in.Undoing && b.in.Operation != Test && !b.accepted(step) && b.notYet(step) == "" && b.served(step)
}

// accepted reports whether the API server has accepted the hook as it is: in the last deployed revision it
// ran to its end. For which event does not matter, since the object is the same. A hook that is as before
// need not have run: an install, for example, runs no upgrade hooks.
func (b *builder) accepted(step *Step) bool {
	return step.Hook.Since == HookSame && b.lastHooks()[hookKey{step.Hook.Event, step.Object}].ran
}

// served reports whether the cluster serves the step's kind in its version.
func (b *builder) served(step *Step) bool {
	gv, err := schema.ParseGroupVersion(step.APIVersion)
	return err == nil && slices.Contains(b.in.Kinds[step.Object.GroupKind()].Versions, gv.Version)
}

// checkHook blocks the plan if the API server refuses the hook for what it says, which would otherwise come
// to light only when the hook runs, after the resources have been changed. All other refusals may be about
// what is there by then: a service account, a quota, the parameters of a policy, a port that is free again.
// An object that has the hook's name is no reason either: what an object says is checked first, except for
// what a Service reserves (k8s.io/apiserver/pkg/registry/generic/registry/store.go, create).
//
// A release can always be uninstalled and rolled back: a hook that runs after everything has been deleted or
// restored is a warning, since it is a stored one, which can't be corrected. A custom resource whose schema this plan changes first is checked by the chart's own CRD.
func (b *builder) checkHook(step *Step) {
	b.checkHookNamespace(step)
	if b.in.Operation != Test { // which changes no CRD
		b.checkCustomResource(step)
	}
	r := b.in.Predictions[step.ID].Refused
	if r == nil {
		r = b.tried(step)
	}
	if r == nil || step.InPlace() || !r.ofContent() {
		return
	}
	p := Problem{Kind: ProblemInvalid, Step: step.ID, Object: step.Object, What: "the API server refuses the hook: " + r.Message, Do: remedy(*r)}
	if op := b.in.Operation; op == Uninstall || op == Rollback { // the hook is a stored one
		p.Do = "add --no-hooks, which leaves out all hooks"
	}
	if e := step.Hook.Event; e == manifest.PostDelete || e == manifest.PostRollback {
		b.problems(p)
		return
	}
	b.blockUnsent(p)
}

// checkHookNamespace reports, once for all hooks in it, that a namespace does not exist and does not come with this plan.
func (b *builder) checkHookNamespace(step *Step) {
	id := NamespaceID(step.Object.Namespace)
	reported := slices.ContainsFunc(b.plan.Problems, func(p Problem) bool { return p.Object == id })
	run := b.lastRuns[id] // deletions come at the end of an event's stage
	brought := run != nil && run.Op != OpDelete && (run.Hook.Event == step.Hook.Event || !b.deletedByHook(id))
	if reported || brought || !b.namespaceMissing(id.Name) || b.bringsNamespace(id.Name) {
		return
	}
	p := Problem{Kind: ProblemInvalid, Object: id, What: "the chart puts hooks into this namespace, which does not exist", Do: "create it first"}
	after := step.Hook.Event == manifest.PostInstall || step.Hook.Event == manifest.PostUpgrade
	for _, r := range b.lastRuns { // as an operator among the resources, an earlier hook may have made it by then
		after = after || r.Op != OpDelete && r.Hook.Event == step.Hook.Event && r.Object.Namespace != id.Name && makesObjects(r.Object)
	}
	if op := b.in.Operation; op == Uninstall || op == Rollback || after {
		b.problems(p)
		return
	}
	b.blockUnsent(p)
}

// makesObjects reports whether an object may have others made that the chart does not have: a Job by what it runs, a
// custom resource by its operator.
func makesObjects(id manifest.ID) bool {
	return id.RunsToItsEnd() || strings.Contains(id.Group, ".") && !strings.HasSuffix(id.Group, ".k8s.io")
}
