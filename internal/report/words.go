package report

import (
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Words describes single parts of a plan in words, as its page does, for use elsewhere. The texts
// are one line each and contain no control characters.
type Words struct {
	plan  *plan.Document
	names namer
}

// WordsFor returns the words for the parts of a plan.
func WordsFor(p *plan.Document) Words { return Words{plan: p, names: newNamer(p)} }

// Name returns an object's name, such as "Deployment/web".
func (w Words) Name(id manifest.ID) string { return w.names.name(id) }

// Risk describes a risk of a step.
func (w Words) Risk(s *plan.Step, risk plan.Risk) string { return riskText(w.plan, s, risk) }

// Change returns text such as "spec.replicas 2 → 3", with at most limit characters after the path; of a
// text of several lines it counts those that change: "data.motd text, +2 −1 lines".
func (w Words) Change(c plan.Change, limit int) string {
	return escape.Line(c.Path) + " " + brief(c, limit)
}

// Verdict returns the line with the counts, or one that says that there is nothing to do.
func (w Words) Verdict() string { return summaryLine(w.plan) }

// brief prints a change as pair does, but of a text of several lines it counts those that change.
func brief(c plan.Change, limit int) string {
	if isText(c) {
		if lines, err := textDiff(c, 0); err == nil {
			return tally(c, lines)
		}
	}
	return pair(c, limit)
}
