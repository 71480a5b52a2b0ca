package command

import (
	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/eventstream"
	"github.com/kubectl-release/kubectl-release/plan"
)

// rollbackSteps records which steps of an automatic rollback have succeeded.
type rollbackSteps struct {
	plan *plan.Plan
	done map[string]bool
}

func (w *rollbackSteps) see(e apply.Event) {
	switch e.Type {
	case apply.RollbackStarted:
		w.plan, w.done = e.Plan, map[string]bool{}
	case apply.StepDone:
		if w.plan != nil {
			w.done[e.Step] = true
		}
	case apply.StageStarted, apply.StepStarted, apply.StepProgress, apply.StepFailed, apply.StepRetried, apply.LogOutput, apply.Note, apply.Warning:
	}
}

// undone returns which changes were undone and which were not.
func (w *rollbackSteps) undone() (undone, notUndone []eventstream.UndoStep) {
	if w.plan == nil {
		return nil, nil
	}
	return eventstream.UndoSteps(&w.plan.Document, w.done)
}

// tellUndone prints what a rollback undid and what it did not.
func (p *progress) tellUndone() {
	if p.back.plan != nil {
		undone, notUndone := p.back.plan.SplitByCompletion(p.back.done)
		if len(undone) > 0 {
			p.line("• undone: %s", plan.SummarizeObjects(undone))
		}
		if len(notUndone) > 0 {
			p.line("✗ not undone: %s", plan.SummarizeObjects(notUndone))
		}
	}
	p.back = rollbackSteps{}
}
