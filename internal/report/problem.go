package report

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// problems are the plan's problems, blocking ones apart, in the plan's order.
func problems(p *plan.Plan, names namer) (blocking, warnings []notice) {
	for _, problem := range p.Problems {
		n := notice{text: clean(problem.What), do: clean(problem.Do)}
		if problem.Object != (manifest.ID{}) {
			n.name = names.name(problem.Object)
		}
		if problem.Blocking {
			blocking = append(blocking, n)
		} else {
			warnings = append(warnings, n)
		}
	}
	return blocking, warnings
}

// risks are the steps to look at first. Plain deletes share one line; when
// everything is deleted on purpose they need none.
func risks(p *plan.Plan, names namer) []notice {
	var out []notice
	var deleted []string
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		name := names.name(s.Object)
		switch s.Risk {
		case plan.RiskDelete:
			deleted = append(deleted, name)
		case plan.RiskRecreate:
			out = append(out, notice{name: name, text: because("recreate", s.Why)})
		case plan.RiskScaleDown:
			out = append(out, notice{name: name, text: reason("scale down", s.Why)})
		case plan.RiskData:
			out = append(out, notice{name: name, text: because(riskyOp(s.Op)+" it and all data in it", s.Why)})
		}
	})
	if len(deleted) > 0 && p.Operation != plan.Uninstall {
		const shown = 6
		out = append(out, notice{text: fmt.Sprintf("%s deleted: %s", isOrAre(len(deleted)), list(deleted, shown))})
	}
	return out
}

func riskyOp(op plan.Op) string {
	if op == plan.OpRecreate {
		return "recreate"
	}
	return "delete"
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
	return what + ": " + clean(why)
}

// because is reason for what a clause explains.
func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ", because " + clean(why)
}
