package repository

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/drift"
	"github.com/kubectl-release/kubectl-release/plan"
)

// found returns the outcome of a comparison. An object that can't be compared counts only
// when there is no other difference.
func found(p *plan.Document) decision.Drift {
	if p == nil {
		return decision.DriftNotLooked
	}
	out := decision.DriftNone
	if p.Blocked() {
		out = decision.DriftUnknown
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op != plan.OpNone && !drift.Refused(p, s.Object) {
			out = decision.DriftFound
		}
	})
	return out
}

// drifted returns notes about what has drifted, without values.
func (m *Managed) drifted(p *plan.Document) []string {
	var out []string
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		name := fmt.Sprintf("%s %s/%s", s.Object.Kind, s.Object.Namespace, s.Object.Name)
		switch {
		case s.Op == plan.OpNone:
		case drift.Refused(p, s.Object):
			out = append(out, name+" can't be compared")
		case s.Op == plan.OpCreate:
			out = append(out, name+" has drifted: it was deleted")
		default:
			var fields []string
			for _, c := range s.Changes {
				fields = append(fields, c.Path)
			}
			out = append(out, name+" has drifted: "+strings.Join(fields, ", "))
			if s.Object.IsSecret() && m.hr.DriftMode() == flux.DriftEnabled {
				out = append(out, name+" is not corrected by helm-controller 1.6, which can't patch Secrets: the HelmRelease does not become ready")
			}
		}
	})
	return out
}

// Overlook returns a function that says what helm-controller does not compare in a step.
func (m *Managed) Overlook() (func(*plan.Step) plan.Overlooked, error) {
	rules, err := drift.Compile(m.hr)
	return rules.Overlook, err
}
