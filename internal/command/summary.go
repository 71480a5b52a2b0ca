package command

import (
	"context"
	"errors"
	"os/signal"
	"strings"
	"syscall"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// ending is how the run of a stream has ended.
type ending struct {
	outcome apply.Outcome
	err     error
	// idle says that there was nothing to do.
	idle bool
	// notes says that the chart's notes are wanted.
	notes bool
}

// summary is the last event of a run. It is called with the stream locked.
func (s *stream) summary(ctx context.Context, end ending) *report.RunSummary {
	out := &report.RunSummary{
		Outcome: s.runOutcome(ctx, end), Release: s.release, Counts: s.counts, Failed: s.failed,
		ElapsedSeconds: milliseconds(s.now().Sub(s.began).Seconds()),
	}
	if made := s.forth; made != nil {
		out.Operation, out.Release = made.Operation, &made.Release
		if end.notes && end.err == nil && (made.Operation == plan.Install || made.Operation == plan.Upgrade) {
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

func recorded(out *report.RunSummary, r *release.Revision) {
	out.Revision, out.Status = r.Version, r.Info.Status
	// A record that JSON does not have would not have been stored.
	out.Record, _ = recordTree(r)
}

func (s *stream) runOutcome(ctx context.Context, end ending) report.RunOutcome {
	var back *engine.RolledBackError
	switch code := exitCode(end.err); {
	case end.err == nil && end.idle:
		return report.RunNothing
	case end.err == nil:
		return report.RunDone
	case code == exitStale:
		return report.RunStale
	case code == exitLocked:
		return report.RunLocked
	case errors.As(end.err, &back) && back.Rollback != nil:
		return report.RunRollbackFailed
	case errors.As(end.err, &back):
		return report.RunRolledBack
	case ctx.Err() != nil:
		return report.RunCancelled
	case s.forth != nil && s.forth.Blocked():
		return report.RunBlocked
	default:
		return report.RunFailed
	}
}

func (s *stream) undo(back *engine.RolledBackError) *report.UndoSummary {
	out := &report.UndoSummary{ToRevision: back.To}
	if back.Rollback != nil {
		out.Error = back.Rollback.Error()
	}
	out.Undone, out.NotUndone = s.back.undone()
	return out
}

// surviveBrokenPipes keeps a run going when whoever reads its output has gone
// away, as in "upgrade … | head", or a tee that got the same Ctrl-C: a signal
// would end the process in the middle of it.
func surviveBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
