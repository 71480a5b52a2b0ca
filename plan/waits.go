package plan

import (
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// waitStage plans to wait for every object of the target, changed or not, of a kind that has a
// notion of readiness, except for what a rollback can't change back.
func (b *builder) waitStage() {
	if !b.in.Options.Wait {
		return
	}
	var steps []Step
	seen := map[manifest.ID]bool{}
	for _, left := range b.plan.NotUndone {
		seen[left.Object] = true // it may be what has failed
	}
	for _, o := range b.in.Target.Objects {
		if seen[o.ID] || kinds.Of(o.GroupKind()).Readiness == kinds.AtOnce || (o.GroupKind() == kinds.Job && !b.in.Options.WaitForJobs) {
			continue
		}
		seen[o.ID] = true
		steps = append(steps, b.waitStep(StageWait, o, "until it is ready"))
	}
	if len(steps) > 0 {
		b.stage(StageWait, []Wave{{Steps: steps}})
	}
}

func (b *builder) waitStep(stage StageName, o manifest.Object, why string) Step {
	return Step{
		ID: stepID(stage, o.ID) + "/wait", Op: OpWait, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version),
		Fidelity: FidelityUnknown, Why: why,
	}
}

// namespaceStage creates the release's namespace if it is missing and --create-namespace is given, as the chart
// says if the chart has it, too.
func (b *builder) namespaceStage() {
	id := NamespaceID(b.in.Release.Namespace)
	if b.live(id).Object != nil {
		b.plan.Existing = append(b.plan.Existing, id)
	}
	if !b.comesFirst(id) {
		return
	}
	step := Step{ID: stepID(StageNamespace, id), Op: OpCreate, Object: id, APIVersion: "v1", Expect: Expect{Absent: true}}
	if i, has := b.targets[id]; has {
		o := b.in.Target.Objects[i]
		step.Source, step.Fidelity = o.Source, FidelityExact
		b.create(&step, o, false)
	} else {
		step.Body = NamespaceDoc(id.Name)
		step.After, step.Fidelity, step.Estimate = step.Body, FidelityEstimated, "a namespace needs no dry run"
	}
	step.Why = "--create-namespace, and it does not exist"
	b.stage(StageNamespace, oneByOne([]Step{step}))
}

// comesFirst reports whether the object is the release's namespace and --create-namespace creates it, before
// the first record is written.
func (b *builder) comesFirst(id manifest.ID) bool {
	return id == NamespaceID(b.in.Release.Namespace) && b.in.Options.CreateNamespace && b.in.Target != nil && b.namespaceMissing(id.Name)
}
