package report

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// problems returns the plan's problems in the plan's order: the foremost, the blocking ones, and
// all others.
func problems(p *plan.Document, names namer) (foremost, blocking, warnings []notice) {
	for _, problem := range p.Problems {
		n := notice{text: escape.Message(problem.What), do: escape.Message(problem.Do)}
		if problem.Object != (manifest.ID{}) {
			n.name = names.name(problem.Object)
		}
		switch {
		case problem.Foremost:
			foremost = append(foremost, n)
		case problem.Blocking:
			blocking = append(blocking, n)
		default:
			warnings = append(warnings, n)
		}
	}
	return foremost, blocking, warnings
}

// risks lists the steps to look at first, the most severe first. Ordinary deletions share one line; an
// uninstall, which deletes everything, needs none.
func risks(p *plan.Document, names namer) []notice {
	found := map[plan.Risk][]notice{}
	var deleted []string
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Risk == plan.RiskDelete {
			deleted = append(deleted, names.name(s.Object))
			return
		}
		for _, risk := range s.Told() {
			found[risk] = append(found[risk], notice{name: names.name(s.Object), text: riskText(p, s, risk)})
		}
	})
	if len(deleted) > 0 && p.Operation != plan.Uninstall {
		const shown = 6
		found[plan.RiskDelete] = []notice{{text: fmt.Sprintf("%s deleted: %s", isOrAre(len(deleted)), list(deleted, shown))}}
	}
	var out []notice
	for _, risk := range plan.Risks() {
		out = append(out, found[risk]...)
	}
	return out
}

// riskText describes a risk of a step.
func riskText(p *plan.Document, s *plan.Step, risk plan.Risk) string {
	switch risk {
	case plan.RiskDelete:
		return because("delete", s.Why)
	case plan.RiskRecreate:
		return because("recreate", s.Why)
	case plan.RiskScaleDown:
		return scaleDown(s)
	case plan.RiskData:
		return loss(p, s)
	case plan.RiskStateful:
		return statefulChange(s)
	}
	return ""
}

// scaleDown returns text such as "scale down: spec.replicas 5 → 2". Pods also go when a StatefulSet's
// ordinals move.
func scaleDown(s *plan.Step) string {
	for _, c := range s.Changes {
		filled, ok := s.ScaleDown(c)
		switch {
		case ok:
			return "scale down: " + escape.Line(c.Path) + " " + pair(filled, 0)
		case c.Path == "spec.ordinals.start":
			return "scale down: " + escape.Line(c.Path) + " " + pair(c, 0)
		}
	}
	return reason("scale down", s.Why)
}

// loss says what is lost with an object: "delete, with its volume claims and their data
// (whenDeleted: Delete): data-db-0, data-db-1".
func loss(p *plan.Document, s *plan.Step) string {
	what, holds := verb(s.Op), kinds.Of(s.Object.GroupKind()).Holds
	for _, v := range p.Impact.Volumes {
		if v.Object != s.Object || v.Fate != plan.VolumeDeleted || len(v.Claims) == 0 {
			continue
		}
		text := what + ", with " + holds
		if !destructive(s.Op) {
			text = scaleDown(s) + ", and " + Count(len(v.Claims), "volume claim is deleted with its data", "volume claims are deleted with their data")
		}
		const shown = 6
		return fmt.Sprintf("%s (%s): %s", text, escape.Message(v.Why), escape.Line(list(v.Claims, shown)))
	}
	return because(what+", with "+holds, s.Why)
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 object is"
	}
	return fmt.Sprintf("%d objects are", n)
}

func reason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + escape.Message(why)
}

// because is like reason, for a why that is a clause.
func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ", because " + escape.Message(why)
}
