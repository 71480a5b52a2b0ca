package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// migrations counts the steps that first migrate the ownership of fields that were written
// client-side.
func migrations(p *plan.Document) (steps int) {
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if len(s.MigrateOwnership) > 0 {
			steps++
		}
	})
	return steps
}

// written says how fields were written that a step first takes over. A Secret's may be those that
// Helm 4 has applied as stringData, see serverfields.WithoutStringData.
func written(s *plan.Step) string {
	if s.Object.IsSecret() {
		return "client-side or as stringData"
	}
	return "client-side"
}

// migrateOwnership says what one step first takes over; if many steps do so, migrationLine says it
// for all.
func (w entryWriter) migrateOwnership(s *plan.Step) string {
	var fields []string
	if len(s.MigrateOwnership) > 0 && migrations(w.plan) < minFold {
		fields = append(fields, "the fields that "+escape.Line(strings.Join(s.MigrateOwnership, ", "))+" wrote "+written(s))
	}
	if len(s.Clears) > 0 {
		fields = append(fields, escape.Line(strings.Join(s.Clears, ", "))+" to remove it, since the chart's settings exclude it")
	}
	var first []string
	if len(fields) > 0 {
		first = append(first, "first takes over "+strings.Join(fields, ", and "))
	}
	if len(s.Unserved) > 0 {
		first = append(first, "first rewrites managedFields in "+escape.Line(strings.Join(s.Unserved, ", "))+", no longer served")
	}
	return strings.Join(first, "; ")
}

func migrationLine(p *plan.Document) []string {
	if n := migrations(p); n >= minFold {
		return []string{fmt.Sprintf("%d objects first migrate ownership of their fields, written client-side or as a Secret's stringData, to server-side apply", n)}
	}
	return nil
}
