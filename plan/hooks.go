package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// hookStage plans the hooks of one event: one after the other by weight, then
// name, then kind.
func (b *builder) hookStage(event manifest.Event) {
	if b.in.Options.NoHooks {
		return
	}
	if steps := b.hookSteps(event); len(steps) > 0 {
		b.stage(StageName(string(event)+" hooks"), oneByOne(steps))
	}
}

func (b *builder) hookSteps(event manifest.Event) []Step {
	hooks := b.in.Hooks()
	var at []int
	for i, h := range hooks {
		if h.On(event) && b.chosen(event, h.Name) {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return manifest.CompareHooks(hooks[i].Hook, hooks[j].Hook) })

	stage := StageName(string(event) + " hooks")
	steps := make([]Step, 0, len(at))
	for _, i := range at {
		o, h := b.in.HookObjects()[i], hooks[i].Hook
		b.checkServed(o)
		why := hookWhy(o)
		if b.plan.FoundPending && !h.Deletes(manifest.BeforeHookCreation) && b.hookOf(b.in.History.Last(), o.ID) {
			h.DeletePolicies = append(slices.Clone(h.DeletePolicies), manifest.BeforeHookCreation)
			why += "; what the interrupted run left of it goes first"
		}
		step := Step{
			ID: stepID(stage, o.ID), Op: OpRun, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version),
			Source: h.Path, Body: o.Doc, Fidelity: FidelityUnknown, Why: why,
			Hook: &HookRun{Event: event, Weight: h.Weight, DeletePolicies: h.DeletePolicies, LogPolicies: h.OutputLogPolicies, Index: i},
		}
		b.turns(&step)
		steps = append(steps, step)
	}
	return steps
}

// turns settles what becomes of a resource of the release that is a hook from now
// on: it stays and is brought to what the hook says. What has to run can't do so
// twice: it is deleted and created, if the hook's policy lets that be.
func (b *builder) turns(step *Step) {
	stored, known := b.stored[step.Object]
	live := b.live(step.Object)
	switch {
	case !known, b.targets[step.Object], stored.leftover(), live.Object == nil, live.Object.GetDeletionTimestamp() != nil:
		return
	case foreign(live.Object, b.in.Release) != "" && (step.Object.RunsToItsEnd() || !b.wasHook(step.Object)): // or a failed run has turned it
		return
	case b.turned[step.Object] && (step.Object.RunsToItsEnd() || step.Hook.Deletes(manifest.HookSucceeded)):
		return // an earlier event has left a hook of it, or nothing
	}
	b.turned[step.Object] = true
	const turned = "it was a resource of this release until now"
	step.Hook.Resource = !isKind(step.Object, crdKind)
	switch {
	case !step.Hook.Resource:
	case step.InPlace():
		step.Expect.UID = live.Object.GetUID()
		step.HandOver = patch.Updaters(live.Object, live.Managers, helmsManager, b.in.Options.FieldManager)
		step.Why = turned + " and is changed in place"
		b.inPlace(step, stored, live.Object, turned)
	case step.Hook.Deletes(manifest.BeforeHookCreation):
		step.Why = turned
	default:
		step.Why = turned
		b.block(step.Object, turned+", and the hook's delete policy does not allow to remove it", "add before-hook-creation to its helm.sh/hook-delete-policy, or delete it by hand")
	}
}

// inPlace settles what a resource becomes that is a hook from now on, and tells
// what keeps it from that.
func (b *builder) inPlace(step *Step, stored StoredObject, live *unstructured.Unstructured, turned string) {
	const keep = "keep the field as it is, or give the hook another name"
	after, err := b.applied(step, stored, live)
	if err != nil {
		b.block(step.Object, err.Error(), "")
		return
	}
	step.After = after
	if fields := patch.Immutable(live, step.Body); len(fields) > 0 {
		b.block(step.Object, turned+"; "+fields[0].Why, keep)
		return
	}
	if r := b.in.Predictions[step.ID].Refused; r != nil {
		do := keep
		if !r.Immutable {
			do = remedy(step, *r)
		}
		b.block(step.Object, turned+"; the API server refuses the change: "+r.Message, do)
	}
}

// chosen says whether a hook is run as far as its name goes: tests may be picked.
func (b *builder) chosen(event manifest.Event, name string) bool {
	o := b.in.Options
	return event != manifest.Test || !slices.Contains(o.SkipTests, name) && (len(o.OnlyTests) == 0 || slices.Contains(o.OnlyTests, name))
}

// wasHook says whether one of the stored revisions has the object as a hook.
// Hooks carry no ownership, so the records are the only ones to know.
func (b *builder) wasHook(id manifest.ID) bool {
	return slices.ContainsFunc(Sources(b.in.History), func(r *release.Revision) bool { return b.hookOf(r, id) })
}

// hookOf says whether a revision has the object as a hook.
func (b *builder) hookOf(r *release.Revision, id manifest.ID) bool {
	return slices.ContainsFunc(r.Hooks, func(h release.Hook) bool {
		if h.Name != id.Name || h.Kind != id.Kind {
			return false
		}
		objects, err := manifest.ParseDocument(h.Manifest, h.Path)
		return err == nil && slices.ContainsFunc(objects, func(o manifest.Object) bool {
			if o.Namespace == "" && id.Namespace != "" {
				o.Namespace = b.in.Release.Namespace
			}
			return o.ID == id
		})
	})
}

func hookWhy(o manifest.Object) string {
	if o.RunsToItsEnd() {
		return "run to completion"
	}
	return "create"
}

// test plans the test hooks and the record that keeps their outcome.
func (b *builder) test() {
	b.checkTests()
	b.hookStage(manifest.Test)
	r := b.in.Target.Record
	b.stage(StageRecord, oneByOne([]Step{b.recordStep("tested", Record{
		Revision: r.Version, Status: r.Info.Status, Description: r.Info.Description,
	}, "keep the outcome of the tests")}))
}

// checkTests tells of names that no test has.
func (b *builder) checkTests() {
	for _, name := range slices.Concat(b.in.Options.OnlyTests, b.in.Options.SkipTests) {
		isTest := func(h release.Hook) bool { return h.On(manifest.Test) && h.Name == name }
		if !slices.ContainsFunc(b.in.Hooks(), isTest) {
			b.problems(Problem{What: "the release has no test " + name, Do: "kubectl release get hooks " + b.in.Release.Name + " shows those that there are"})
		}
	}
}
