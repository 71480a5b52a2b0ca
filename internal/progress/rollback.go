package progress

import (
	"errors"
	"strings"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Rollback records which steps of an automatic rollback have succeeded.
type Rollback struct {
	// Plan is nil if there is none.
	Plan *plan.Plan
	// Done are the IDs of these steps.
	Done map[string]bool
}

// See notes what an event says about a rollback.
func (w *Rollback) See(e apply.Event) {
	switch e.Type {
	case apply.RollbackStarted:
		w.Plan, w.Done = e.Plan, map[string]bool{}
	case apply.StepDone:
		if w.Plan != nil {
			w.Done[e.Step] = true
		}
	case apply.StageStarted, apply.StepStarted, apply.StepProgress, apply.StepFailed, apply.StepRetried, apply.LogOutput, apply.Note, apply.Warning:
	}
}

// rollback prints why a run is rolled back, in full and immediately, because the rollback may take
// as long as the run that failed. Then it prints the target of the rollback.
func (p *Printer) rollback(e apply.Event) {
	if len(p.failures) != 1 || !errors.Is(e.Cause, p.failures[0]) {
		p.headline("✗ %s", e.Cause)
	}
	message, details := e.Text() // what the first line quotes may go on behind it
	if _, rest, more := strings.Cut(p.safe(strings.Join(append([]string{firstLine(message)}, details...), "\n")), "\n"); more {
		p.block([]string{rest})
	}
	p.Hide(e.Plan)
	p.line("• %s: %s", e.Next, report.Brief(e.Plan.Summary))
}

// tellUndone prints what a rollback undid and what it did not.
func (p *Printer) tellUndone() {
	if p.back.Plan != nil {
		undone, notUndone := p.back.Plan.SplitByCompletion(p.back.Done)
		if len(undone) > 0 {
			p.line("• undone: %s", plan.SummarizeObjects(undone))
		}
		if len(notUndone) > 0 {
			p.line("✗ not undone: %s", plan.SummarizeObjects(notUndone))
		}
	}
	p.back = Rollback{}
}
