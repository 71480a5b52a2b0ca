package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// handOvers counts the steps that first take over what was written client-side.
func handOvers(p *plan.Plan) (steps int) {
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if len(s.HandOver) > 0 {
			steps++
		}
	})
	return steps
}

// handOver tells it of one step; what many steps do is told once.
func (w entryWriter) handOver(s *plan.Step) string {
	if len(s.HandOver) == 0 || handOvers(w.plan) >= minFold {
		return ""
	}
	return "first takes over the fields that " + clean(strings.Join(s.HandOver, ", ")) + " wrote client-side"
}

func handOverLine(p *plan.Plan) []string {
	if n := handOvers(p); n >= minFold {
		return []string{fmt.Sprintf("%d objects are taken over from client-side to server-side apply first, with the fields that were written so", n)}
	}
	return nil
}
