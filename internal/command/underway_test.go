package command

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Whoever presses Ctrl-C twice is told the state that is surely recorded: a pending one may be there as soon as its
// write has begun, another one only once that has ended.
func TestTheStateThatARunLeaves(t *testing.T) {
	record := func(id string, revision int, status release.Status) plan.Stage {
		step := plan.Step{ID: "record/" + id, Op: plan.OpRecord, Record: &plan.Record{Revision: revision, Status: status}}
		return plan.Stage{Waves: []plan.Wave{{Steps: []plan.Step{step}}}}
	}
	made := &plan.Plan{Document: plan.Document{
		Stages:    []plan.Stage{record("pending", 2, release.StatusPendingUpgrade), record("final", 2, release.StatusDeployed), record("pruned", 0, "")},
		OnFailure: &plan.OnFailure{Stages: []plan.Stage{record("failed", 2, release.StatusFailed)}},
	}}
	back := &plan.Plan{Document: plan.Document{Stages: []plan.Stage{
		record("pending", 3, release.StatusPendingRollback), record("final", 3, release.StatusDeployed),
	}}}
	event := func(t apply.EventType, id string) apply.Event {
		return apply.Event{Type: t, Op: plan.OpRecord, Step: "record/" + id}
	}
	var u underway
	u.begin(made)
	for _, c := range []struct {
		event apply.Event
		want  string
	}{
		{apply.Event{Type: apply.StageStarted}, ""},
		{event(apply.StepStarted, "pending"), "pending-upgrade (revision 2)"},
		{event(apply.StepDone, "pending"), "pending-upgrade (revision 2)"},
		{apply.Event{Type: apply.StepFailed, Op: plan.OpPatch}, "pending-upgrade (revision 2)"},
		{event(apply.StepStarted, "final"), "pending-upgrade, and being recorded as deployed (revision 2)"},
		{event(apply.StepFailed, "final"), "pending-upgrade (revision 2)"},
		{event(apply.StepStarted, "failed"), "pending-upgrade, and being recorded as failed (revision 2)"},
		{event(apply.StepDone, "failed"), "failed (revision 2)"},
		{apply.Event{Type: apply.RollbackStarted, Plan: back}, "failed (revision 2)"},
		{event(apply.StepStarted, "pending"), "pending-rollback (revision 3)"},
		{event(apply.StepStarted, "final"), "pending-rollback, and being recorded as deployed (revision 3)"},
		{event(apply.StepDone, "final"), "deployed (revision 3)"},
		{event(apply.StepStarted, "pruned"), "deployed (revision 3)"},
		{event(apply.StepDone, "pruned"), "deployed (revision 3)"},
	} {
		if u.see(c.event); u.state() != c.want {
			t.Errorf("after %s of %s: %q, want %q", c.event.Type, c.event.Step, u.state(), c.want)
		}
	}
}
