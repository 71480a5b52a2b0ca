package report

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// The page for newcomers explains every sign that a plan has for an operation, and no other.
func TestThePageExplainsEverySign(t *testing.T) {
	page, err := os.ReadFile("../../docs/first-plan.md")
	if err != nil {
		t.Fatal(err)
	}
	var explained, shown []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(.)` \\|").FindAllStringSubmatch(string(page), -1) {
		explained = append(explained, row[1])
	}
	for _, op := range []plan.Op{
		plan.OpCreate, plan.OpPatch, plan.OpReplace, plan.OpAdopt, plan.OpRecreate, plan.OpDelete, plan.OpKeep, plan.OpRun,
		plan.OpWait, plan.OpRecord, plan.OpNone,
	} {
		if sign := mark(op); sign != " " && !slices.Contains(shown, sign) {
			shown = append(shown, sign)
		}
	}
	if !slices.Equal(explained, shown) {
		t.Errorf("docs/first-plan.md explains %q, plans have %q", explained, shown)
	}
}
