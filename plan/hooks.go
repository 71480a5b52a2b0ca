package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// hookStage plans the hooks of one event one after another, by weight, then name, then kind. Before
// each of them, an existing object with its name is deleted. Deletions by the hooks' policies come
// at the end of the stage in reverse order, as in Helm 4.3.1 (pkg/action/hooks.go, execHook).
func (b *builder) hookStage(event manifest.Event) {
	if b.in.Options.NoHooks {
		return
	}
	stage := StageName(string(event) + " hooks")
	var steps, deletions []Step
	runs := b.hookRuns(stage, event)
	b.removedHooks(event, runs)
	for _, run := range runs {
		if run.Op == OpNone { // the cluster does not serve it, and a failed run is undone without it
			continue
		}
		if left, begun := b.resumed(&run); begun {
			b.countHook(&run)
			steps = append(steps, left...)
			if len(left) > 0 {
				b.lastRuns[run.Object] = &left[0]
			}
			if deletion, asked := deletionAfter(run); asked && run.Hook.Underway {
				deletions = append(deletions, deletion)
			}
			continue
		}
		room, needed := b.place(&run)
		if run.Op == OpNone { // a rollback does without it
			continue
		}
		b.countHook(&run)
		if needed {
			steps = append(steps, room)
		}
		b.checkHook(&run)
		steps = append(steps, run)
		if deletion, asked := deletionAfter(run); asked {
			deletions = append(deletions, deletion)
		}
	}
	slices.Reverse(deletions)
	b.stage(stage, oneByOne(append(steps, deletions...)))
}

// hookRuns returns the steps that run the hooks of an event, in order.
func (b *builder) hookRuns(stage StageName, event manifest.Event) []Step {
	hooks := b.in.Hooks()
	var at []int
	for i, h := range hooks {
		if h.On(event) && b.in.chosen(event, h.Name) {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return manifest.CompareHooks(hooks[i].Hook, hooks[j].Hook) })

	steps := make([]Step, 0, len(at))
	seen := map[manifest.ID]int{}
	for _, i := range at {
		for _, o := range b.in.HookObjects()[i] {
			step := b.hookRun(stage, event, o, i)
			if seen[o.ID]++; seen[o.ID] > 1 { // charts may contain the same hook twice
				step.ID += fmt.Sprintf("/%d", seen[o.ID])
			}
			b.compareHook(&step)
			b.checkHookServed(&step, o)
			steps = append(steps, step)
		}
	}
	return steps
}

// hookRun returns the step that runs one object of the hook with this index.
func (b *builder) hookRun(stage StageName, event manifest.Event, o manifest.Object, index int) Step {
	h := b.in.Hooks()[index].Hook
	if !h.Deletes(manifest.BeforeHookCreation) && b.cutShort(o.ID) {
		h.DeletePolicies = append(slices.Clone(h.DeletePolicies), manifest.BeforeHookCreation)
	}
	h = b.yields(o.ID, h)
	return Step{
		ID: stepID(stage, o.ID), Op: OpRun, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version),
		Source: h.Path, Body: o.Doc, Fidelity: FidelityUnknown, Why: hookWhy(o),
		Hook: &HookRun{
			Event: event, Weight: h.Weight, DeletePolicies: h.DeletePolicies, LogPolicies: h.OutputLogPolicies, Index: index,
			Runs: b.in.History.RunsOf(h, runsTold),
		},
	}
}

// converted is the reason given for a step on a resource that becomes a hook.
const converted = "it was a resource of this release until now"

// converts reports whether the hook was a resource of the release until now. A resource that does
// not run to completion stays and is patched to match the hook; one that does has to run again, so
// it is deleted and created if the hook's delete policy allows that.
func (b *builder) converts(step *Step) bool {
	stored, known := b.storedObject(step.Object)
	live := b.live(step.Object)
	switch {
	case !known, b.wants(step.Object), stored.leftover(), live.Object == nil, live.Object.GetDeletionTimestamp() != nil, step.Object.IsCRD():
		return false
	case foreign(live.Object, b.in.Release) != "" && (step.Object.RunsToItsEnd() || !b.leftByHook(step.Object, live.Object)): // unless a failed run has converted it
		return false
	case b.converted[step.Object] && (step.Object.RunsToItsEnd() || step.Hook.Deletes(manifest.HookSucceeded)):
		return false // an earlier event has left a hook of it, or nothing
	}
	return true
}

// convert turns a resource into a hook. needed reports whether the resource has to be deleted
// first, which the step room does.
func (b *builder) convert(step *Step) (room Step, needed bool) {
	stored, _ := b.storedObject(step.Object)
	live := b.live(step.Object).Object
	b.converted[step.Object] = true
	step.Hook.WasResource = true
	switch {
	case step.InPlace():
		step.Expect.UID = live.GetUID()
		step.MigrateOwnership = managedfields.ClientSideManagers(live, b.live(step.Object).Managers, FieldManager, b.in.Options.FieldManager)
		step.Clears, step.Empties, step.Unserved = b.clears(step, stored, live), b.empties(step, stored, live), b.unservedVersions(step)
		step.Why = converted + " and is changed in place"
		if left, again := b.lastRuns[step.Object]; again && left.After != nil { // by the hook of an earlier event
			live = left.After
		}
		b.inPlace(step, stored, live)
		return Step{}, false
	case step.Hook.Deletes(manifest.BeforeHookCreation):
	case b.forbid(step, ProblemConflict, converted+", and the hook's delete policy does not allow removing it", "add before-hook-creation to its helm.sh/hook-delete-policy, or delete it by hand"):
		return Step{}, false
	}
	return replacing(step, live, converted), true
}

// inPlace predicts the outcome for a resource that becomes a hook and stays, and forbids a change that is
// not possible.
func (b *builder) inPlace(step *Step, stored StoredObject, live *unstructured.Unstructured) {
	const keep = "keep the field as it is, or give the hook another name"
	estimate, err := b.applied(step, stored, live)
	if err != nil {
		b.forbid(step, ProblemInvalid, err.Error(), "")
		return
	}
	step.Before = live
	b.foresee(step, estimate)
	b.diff(step)
	stored.Docs = slices.Clone(stored.Docs)
	for i := range stored.Docs { // a hook has no ownership metadata, so the chart removes it
		stored.Docs[i].Doc = owned(stored.Docs[i].Doc, b.in.Release)
	}
	b.attribute(step, manifest.Object{ID: step.Object, Doc: step.Body}, stored)
	if fields := immutable.PredictChange(live, step.Body, estimate); len(fields) > 0 {
		b.forbidHook(step, ProblemImmutable, converted+"; "+fields[0].Why, keep)
		return
	}
	r := b.in.Predictions[step.ID].Refused
	switch {
	case r == nil:
	case !b.in.Undoing && b.lacks(step, *r):
		step.Estimate = "its dry run is not permitted"
	case r.Immutable:
		b.forbidHook(step, r.kind(), converted+"; the API server refuses the change: "+r.Message, keep)
	default:
		b.forbid(step, r.kind(), converted+"; the API server refuses the change: "+r.Message, remedy(*r))
	}
}

// chosen reports whether the options select the hook of that name: only tests can be deselected.
func (in Input) chosen(event manifest.Event, name string) bool {
	o := in.Options
	return event != manifest.Test || !slices.Contains(o.SkipTests, name) && (len(o.OnlyTests) == 0 || slices.Contains(o.OnlyTests, name))
}

// Runs reports whether the operation runs the hook.
func (in Input) Runs(h release.Hook) bool {
	pre, post, _ := moments(in.Operation)
	return !in.Options.NoHooks && (h.On(pre) && in.chosen(pre, h.Name) || h.On(post) && in.chosen(post, h.Name))
}

// HooksBack returns the hooks that the rollback of a failed run runs, in no order and once for each event: those of
// the last successful revision or, if there is none and the release is uninstalled, its delete hooks.
func (in Input) HooksBack() []release.Hook {
	if in.Options.NoHooks || !in.Options.Atomic || in.Target == nil {
		return nil
	}
	hooks, events := in.Target.Record.Hooks, []manifest.Event{manifest.PreDelete, manifest.PostDelete}
	if good := in.History.SinceUninstall().LastSuccessful(); good != nil {
		hooks, events = good.Hooks, []manifest.Event{manifest.PreRollback, manifest.PostRollback}
	}
	var back []release.Hook
	for _, h := range hooks {
		for _, event := range events {
			if h.On(event) {
				back = append(back, h)
			}
		}
	}
	return back
}

// HooksToRun returns the objects of the hooks that the operation runs. They have to be observed,
// since objects of these names may already exist.
func (in Input) HooksToRun() []manifest.Object {
	var out []manifest.Object
	for i, h := range in.Hooks() {
		if in.Runs(h) {
			out = append(out, in.HookObjects()[i]...)
		}
	}
	return out
}

// wasHook returns the object as the newest stored revision that has it as a hook sent it; ok is false
// if none has.
func (b *builder) wasHook(id manifest.ID) (sent manifest.Object, ok bool) {
	for _, r := range slices.Backward(b.in.History) {
		if sent, ok = b.hookOf(r, id); ok {
			return sent, true
		}
	}
	return manifest.Object{}, false
}

// hookOf returns the object as a revision, which may be nil, sent it as a hook; ok is false if it did
// not.
func (b *builder) hookOf(r *release.Revision, id manifest.ID) (sent manifest.Object, ok bool) {
	if r == nil {
		return manifest.Object{}, false
	}
	for _, h := range r.Hooks {
		if !h.Holds(id) {
			continue
		}
		objects, err := h.Objects()
		if err != nil {
			continue
		}
		for _, o := range objects {
			if o.Namespace == "" && id.Namespace != "" {
				o.Namespace = b.in.Release.Namespace
			}
			if o.ID == id {
				return o, true
			}
		}
	}
	return manifest.Object{}, false
}

func hookWhy(o manifest.Object) string {
	if o.RunsToItsEnd() {
		return "run to completion"
	}
	return "create"
}

// test plans the test hooks and the record that stores their outcome.
func (b *builder) test() {
	b.checkTests()
	b.hookStage(manifest.Test)
	r := b.in.Target.Record
	b.stage(StageRecord, oneByOne([]Step{b.recordStep("tested", Record{
		Revision: r.Version, Status: r.Info.Status, Description: r.Info.Description,
	}, "keep the outcome of the tests")}))
}

// checkTests reports selected names that no test has.
func (b *builder) checkTests() {
	for _, name := range slices.Concat(b.in.Options.OnlyTests, b.in.Options.SkipTests) {
		isTest := func(h release.Hook) bool { return h.On(manifest.Test) && h.Name == name }
		if !slices.ContainsFunc(b.in.Hooks(), isTest) {
			b.problems(Problem{Kind: ProblemInvalid, What: "the release has no test " + name, Do: b.in.Invocation.Command("get", "hooks", b.in.Release.Name) + " lists the existing ones"})
		}
	}
}
