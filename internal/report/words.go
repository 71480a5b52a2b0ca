package report

import (
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Words put single parts of a plan into words, as its page does, for what is told
// elsewhere. They are on one line each, and clean: they hold no control characters.
type Words struct {
	plan  *plan.Document
	names namer
}

// WordsFor are the words for the parts of that plan.
func WordsFor(p *plan.Document) Words { return Words{plan: p, names: newNamer(p)} }

// Name is an object's: "Deployment/web".
func (w Words) Name(id manifest.ID) string { return w.names.name(id) }

// Risk is what makes a risk that a step bears.
func (w Words) Risk(s *plan.Step, risk plan.Risk) string { return riskText(w.plan, s, risk) }

// Change is "spec.replicas 2 → 3", of at most that many characters after the path.
func (w Words) Change(c plan.Change, limit int) string {
	return escape.Line(c.Path) + " " + pair(c, limit)
}

// Verdict is the line with the counts, or that there is nothing to do.
func (w Words) Verdict() string { return summaryLine(w.plan) }
