package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// TestFinalPlans checks in each scenario that a plan that Questions call final is the one that an input
// with all answers leads to.
func TestFinalPlans(t *testing.T) {
	operations := map[plan.Operation]int{}
	objecttest.Cases(t, "testdata/*.txtar", 60, func(t *testing.T, _ string, archive *txtar.Archive) {
		s := scenario{t: t, sections: objecttest.Sections(archive)}
		setup := s.setup()
		in := s.input(setup)
		first, open, err := plan.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		if !open.Final(in) {
			return
		}
		operations[in.Operation]++
		in.Predictions = map[string]plan.Prediction{}
		second, _, err := plan.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole(t, second), whole(t, first)); diff != "" {
			t.Errorf("the first plan is not what an input with all answers leads to (-answered +first):\n%s", diff)
		}
	})
	if operations[plan.Upgrade] < 10 || operations[plan.Uninstall] < 5 {
		t.Errorf("final by operation: %v, too few to tell", operations)
	}
}

// whole returns all of a plan, including its bundle.
func whole(t *testing.T, p *plan.Plan) map[string]any {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
