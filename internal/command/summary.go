package command

import (
	"context"
	"errors"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/eventstream"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// summary returns the last event of a run. The caller holds mu.
func (s *stream) summary(ctx context.Context, end ending) *eventstream.RunSummary {
	out := &eventstream.RunSummary{
		Outcome: s.runOutcome(ctx, end), Release: s.release, Counts: s.counts, Failed: s.failed,
		ElapsedSeconds: milliseconds(s.now().Sub(s.began).Seconds()),
	}
	if made := s.forth; made != nil {
		out.Operation, out.Release = made.Operation, &made.Release
		if !s.show.hideNotes && end.made != nil && end.err == nil && (made.Operation == plan.Install || made.Operation == plan.Upgrade) {
			out.Notes = strings.TrimSpace(made.Notes)
		}
	}
	if end.err != nil {
		out.ExitCode, out.Error, out.Hint = exitCode(end.err), end.err.Error(), s.hint(end.err)
	}
	revision := end.outcome.Revision
	var back *engine.RolledBackError
	if errors.As(end.err, &back) {
		out.Undo = s.undo(back)
		if back.Back.Revision != nil {
			revision = back.Back.Revision
		}
	}
	if end.outcome.Recorded && revision != nil {
		recorded(out, revision)
	}
	return out
}

// recorded adds the stored revision to a summary.
func recorded(out *eventstream.RunSummary, r *release.Revision) {
	out.Revision, out.Status = r.Version, r.Info.Status
	// This cannot fail: a record that JSON cannot represent would not have been stored.
	out.Record, _ = recordTree(r)
}

func (s *stream) runOutcome(ctx context.Context, end ending) eventstream.RunOutcome {
	var back *engine.RolledBackError
	switch code := exitCode(end.err); {
	case end.err == nil && end.idle:
		return eventstream.RunNothing
	case end.err == nil:
		return eventstream.RunDone
	case code == exitStale:
		return eventstream.RunStale
	case code == exitLocked:
		return eventstream.RunLocked
	case errors.As(end.err, &back) && back.Rollback != nil:
		return eventstream.RunRollbackFailed
	case errors.As(end.err, &back):
		return eventstream.RunRolledBack
	case ctx.Err() != nil:
		return eventstream.RunCancelled
	case s.forth != nil && s.forth.Blocked():
		return eventstream.RunBlocked
	default:
		return eventstream.RunFailed
	}
}

// undo returns the part of the summary about an automatic rollback.
func (s *stream) undo(back *engine.RolledBackError) *eventstream.UndoSummary {
	out := &eventstream.UndoSummary{ToRevision: back.To}
	if back.Rollback != nil {
		out.Error = back.Rollback.Error()
	}
	if s.undoing() {
		out.Undone, out.NotUndone = eventstream.UndoSteps(&s.back.Plan.Document, s.back.Done)
	}
	return out
}
