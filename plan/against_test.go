package plan_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Nothing that a comparison says is exact, since no server was asked, and each outcome says so.
func TestOutcomesOfAComparisonAreEstimates(t *testing.T) {
	s := scenarioIn(t, "testdata/against-file.txtar")
	estimates := 0
	s.plan().Steps(func(_ plan.StageName, step *plan.Step) {
		if step.Fidelity == plan.FidelityExact {
			t.Errorf("%s %s is exact", step.Op, step.Object)
		}
		if step.Fidelity == plan.FidelityEstimated {
			estimates++
			if step.Estimate != plan.NotAsked {
				t.Errorf("%s %s is estimated because of %q", step.Op, step.Object, step.Estimate)
			}
		}
	})
	if estimates == 0 {
		t.Error("nothing is estimated")
	}
}

// Titles and errors name what was compared with.
func TestComparisonsSayWithWhat(t *testing.T) {
	for want, against := range map[string]plan.Against{
		"revision 7":                   {Kind: plan.AgainstRevision, Name: "7"},
		"the saved plan a.plan":        {Kind: plan.AgainstPlan, Name: "a.plan"},
		"the chart ./web":              {Kind: plan.AgainstChart, Name: "./web"},
		"the file base.yaml":           {Kind: plan.AgainstFile, Name: "base.yaml"},
		"standard input":               {Kind: plan.AgainstFile, Name: "-"},
		"nothing":                      {Kind: plan.AgainstNothing},
		"main, which does not have it": {Kind: plan.AgainstNothing, Name: "main"},
	} {
		if got := against.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
