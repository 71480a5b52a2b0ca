package plan_test

import (
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// What the hooks of an interrupted run have left is waited for until its pods are gone: a deletion in the
// background would leave them at work beside the plan.
func TestLeftoversTakeTheirPodsAlong(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/hooks-interrupted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{t: t, sections: objecttest.Sections(archive)}
	var setup setup
	if err := yaml.UnmarshalStrict([]byte(s.sections["setup"]), &setup); err != nil {
		t.Fatal(err)
	}
	deletions := 0
	build(t, s.input(setup)).Steps(func(stage plan.StageName, step *plan.Step) {
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
