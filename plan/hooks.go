package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
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
		if h.On(event) {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return manifest.CompareHooks(hooks[i].Hook, hooks[j].Hook) })

	stage := StageName(string(event) + " hooks")
	steps := make([]Step, 0, len(at))
	for _, i := range at {
		o, h := b.in.HookObjects()[i], hooks[i].Hook
		b.checkServed(o)
		steps = append(steps, Step{
			ID: stepID(stage, o.ID), Op: OpRun, Object: o.ID, APIVersion: apiVersion(o.Group, o.Version),
			Source: h.Path, Body: o.Doc, Fidelity: FidelityUnknown, Why: hookWhy(o),
			Hook: &HookRun{Event: event, Weight: h.Weight, DeletePolicies: h.DeletePolicies, LogPolicies: h.OutputLogPolicies, Index: i},
		})
	}
	return steps
}

func hookWhy(o manifest.Object) string {
	switch o.Kind {
	case "Job", "Pod":
		return "run to completion"
	default:
		return "create"
	}
}

// test plans the test hooks and the record that keeps their outcome.
func (b *builder) test() {
	b.hookStage(manifest.Test)
	r := b.in.Target.Record
	b.stage(StageRecord, oneByOne([]Step{b.recordStep("tested", Record{
		Revision: r.Version, Status: r.Info.Status, Description: r.Info.Description,
	}, "keep the outcome of the tests")}))
}
