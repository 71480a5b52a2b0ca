package reconcile

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Summary is a plan as the status of a HelmRelease shows it, without secrets.
type Summary struct {
	// Text is the operation, the revision and chart, and the objects that are written.
	Text string
	// Digest is the plan's redact.EffectDigest, by which it is approved.
	Digest string
}

// planned makes the condition Planned report the plan that was made last, whether it is carried
// out, held or blocked. helm-controller has no such condition.
func (p *pass) planned(made *plan.Plan) Summary {
	is := p.summary(made)
	if p.r.Compatible {
		p.drop(flux.ConditionPlanned)
		return is
	}
	p.mark(flux.ConditionPlanned, metav1.ConditionTrue, planReasons[made.Operation], is.Text+": "+is.Digest)
	return is
}

func (p *pass) summary(made *plan.Plan) Summary {
	return Summary{Text: p.describe(made), Digest: redact.EffectDigest(made, nil)}
}

// planReasons are the reasons of the condition Planned.
var planReasons = map[plan.Operation]string{
	plan.Install: "Install", plan.Upgrade: "Upgrade", plan.Rollback: "Rollback", plan.Uninstall: "Uninstall",
	plan.Test: "Test", plan.CorrectDrift: "CorrectDrift",
}

// maxNamed is how many steps a summary names.
const maxNamed = 12

// describe returns the text of a plan's Summary.
func (p *pass) describe(made *plan.Plan) string {
	objects := written(made)
	switch {
	case made.Operation == plan.Uninstall && p.moving:
		return fmt.Sprintf("uninstall of release %s, because the HelmRelease now refers to another release (%s)", made.Release, objects)
	case made.Operation == plan.Uninstall:
		return fmt.Sprintf("uninstall of release %s (%s)", made.Release, objects)
	case made.Operation == plan.Rollback:
		return fmt.Sprintf("rollback to revision %d as revision %d (%s)", made.RollbackTo, made.ToRevision, objects)
	case made.Operation == plan.Test:
		return fmt.Sprintf("test of revision %d (%s)", made.FromRevision, objects)
	case made.Operation == plan.CorrectDrift:
		return fmt.Sprintf("correction of drift from revision %d (%s)", made.FromRevision, objects)
	}
	return fmt.Sprintf("%s to revision %d with chart %s@%s (%s)", made.Operation, made.ToRevision, made.ChartTo.Name, made.ChartTo.Version, objects)
}

// written names the objects that a plan writes, up to maxNamed of them, and how.
func written(made *plan.Plan) string {
	var named []string
	n := 0
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if !s.Writes() || s.Object.Kind == "" {
			return
		}
		if n++; n <= maxNamed {
			named = append(named, fmt.Sprintf("%s %s/%s", s.Op, s.Object.Kind, s.Object.Name))
		}
	})
	switch {
	case n == 0:
		return "no object changes"
	case n > maxNamed:
		named = append(named, fmt.Sprintf("and %d more", n-maxNamed))
	}
	return strings.Join(named, ", ")
}
