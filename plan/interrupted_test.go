package plan_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// What the hooks of an interrupted run have left is waited for until its pods are gone: a deletion in the
// background would leave them at work beside the plan.
func TestLeftoversTakeTheirPodsAlong(t *testing.T) {
	s := scenarioIn(t, "testdata/hooks-interrupted.txtar")
	deletions := 0
	build(t, s.input(s.setup())).Steps(func(stage plan.StageName, step *plan.Step) {
		if stage != plan.StageInterrupted {
			return
		}
		deletions++
		if step.Cascade != "foreground" {
			t.Errorf("%s is deleted with cascade %q", step.Object, step.Cascade)
		}
	})
	if deletions == 0 {
		t.Error("nothing is deleted")
	}
}
