package command

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/eventstream"
	"github.com/kubectl-release/kubectl-release/internal/progress"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// watcher observes a run and prints it.
type watcher interface {
	apply.Observer
	// Stop is called at the end of the run. Nothing is printed after it.
	Stop()
}

// stream prints on standard output what a run does, one JSON event per line, as soon as it happens.
// A broken pipe does not end the run.
type stream struct {
	*program
	show *showFlags
	mu   sync.Mutex
	now  func() time.Time
	// last is the type of the last line.
	last eventstream.Type
	// key is the release that these lines are about, if several are in progress.
	key *releaseset.Key
	// began is when the run of the next summary began, and release is its release.
	began   time.Time
	release *release.Key
	runSteps
}

// runSteps records the results of the steps of one run.
type runSteps struct {
	forth *plan.Plan
	back  progress.Rollback
	// tidies are the steps, by ID, that delete hooks because of their delete policies. They are not
	// counted.
	tidies map[string]bool
	// open and ended are the times when steps began and ended, by step ID. A step and the wait at
	// its end have the same ID.
	open, ended map[string]time.Time
	counts      map[plan.Op]int
	failed      []string
}

func newRunSteps() runSteps {
	return runSteps{
		tidies: map[string]bool{}, open: map[string]time.Time{}, ended: map[string]time.Time{},
		counts: map[plan.Op]int{},
	}
}

func newStream(p *program, show *showFlags) *stream {
	return &stream{program: p, show: show, now: time.Now, runSteps: newRunSteps()}
}

func (s *stream) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = s.now()
	s.line(eventstream.Event{
		Type: eventstream.Version, FormatVersion: eventstream.FormatVersion,
		PlanFormatVersion: plan.FormatVersion, ToolVersion: toolVersion(),
	})
}

// about implements presenter. A command on several releases prints a summary for each.
func (s *stream) about(key release.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = &key
	if s.last == eventstream.Summary {
		s.last = ""
		s.runSteps, s.began = newRunSteps(), s.now()
	}
}

// plan implements presenter.
func (s *stream) plan(made *plan.Plan, as detail) error {
	s.planned(made)
	if as == whole {
		s.warnings(made)
	}
	if err := s.report(s.show, made); err != nil {
		return err
	}
	if made.Blocked() {
		return s.blocked(made)
	}
	return nil
}

// differences implements presenter. Readers of events compare the plans themselves.
func (s *stream) differences(fresh *plan.Plan, _ []plan.Difference) error {
	s.planned(fresh)
	return s.report(s.show, fresh)
}

// planned prints a plan that is about to be applied, or that cannot be.
func (s *stream) planned(made *plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runSteps = newRunSteps()
	s.forth = made
	s.know(made)
	s.line(eventstream.Event{Type: eventstream.Planned, Plan: s.redacted(made)})
}

// know prepares to record the steps of a plan.
func (s *stream) know(made *plan.Plan) {
	clear(s.open)
	clear(s.ended)
	made.AllSteps(func(_ plan.StageName, step *plan.Step) {
		s.tidies[step.ID] = step.HookDeletion()
	})
}

func (s *stream) redacted(made *plan.Plan, others ...*plan.Plan) *plan.Document {
	if s.mask.Load() == nil { // no mask: --show-secrets
		return &made.Document
	}
	return &redact.Plan(made, others...).Document
}

// warning implements presenter.
func (s *stream) warning(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(eventstream.Event{Type: eventstream.Warning, Message: text})
}

// waiting implements presenter. After the summary there are no more lines.
func (s *stream) waiting(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != eventstream.Summary {
		s.line(eventstream.Event{Type: eventstream.Note, Message: text})
	}
}

func (s *stream) confirmed() {}

func (s *stream) watcher() watcher { return s }

// Stop implements watcher. It has nothing to do, because no line is delayed.
func (s *stream) Stop() {}

// Observe implements apply.Observer.
func (s *stream) Observe(e apply.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back.See(e)
	out := eventstream.Event{Time: e.Time, Undoing: s.undoing(), Stage: e.Stage, Step: e.Step, Op: e.Op}
	out.Message, out.Reasons = e.Text()
	if e.Object.Kind != "" {
		out.Object = &e.Object
	}
	switch e.Type {
	case apply.StageStarted:
		out.Type = eventstream.Stage
	case apply.RollbackStarted:
		s.rollback(out, e.Plan)
		return
	case apply.Note:
		out.Type = eventstream.Note
	case apply.Warning:
		out.Type = eventstream.Warning
		s.warn(e.Message)
	case apply.LogOutput:
		out.Type = eventstream.Log
	case apply.StepRetried:
		out.Type = eventstream.Retried
	case apply.StepStarted:
		if !s.open[e.Step].IsZero() {
			return
		}
		s.open[e.Step] = e.Time
		out.Type = eventstream.Started
	case apply.StepProgress:
		out.Type, out.ElapsedSeconds = eventstream.Progress, s.elapsed(e)
	case apply.StepDone, apply.StepFailed:
		if !s.ended[e.Step].IsZero() {
			return
		}
		s.ended[e.Step] = e.Time
		s.stepEnded(&out, e)
	}
	s.line(out)
}

func (s *stream) elapsed(e apply.Event) *float64 {
	seconds := e.Time.Sub(s.open[e.Step]).Seconds()
	if s.open[e.Step].IsZero() {
		seconds = 0
	}
	return new(milliseconds(seconds))
}

func milliseconds(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

func (s *stream) stepEnded(out *eventstream.Event, e apply.Event) {
	out.ElapsedSeconds = s.elapsed(e)
	switch {
	case e.Type == apply.StepFailed:
		out.Type = eventstream.Failed
		if !s.undoing() {
			s.failed = append(s.failed, e.Step)
		}
		return
	case !s.undoing() && !s.tidies[e.Step]:
		s.counts[out.Op]++
	}
	out.Type = eventstream.Done
}

func (s *stream) undoing() bool { return s.back.Plan != nil }

// rollback prints that a run is rolled back, and the plan for that.
func (s *stream) rollback(out eventstream.Event, back *plan.Plan) {
	out.Type, out.Undoing, out.Time = eventstream.Rollback, true, s.now()
	s.line(out)
	s.hideMore(back)
	s.know(back)
	s.line(eventstream.Event{Type: eventstream.Planned, Undoing: true, Plan: s.redacted(back, s.forth)})
}

// line prints an event. The caller holds mu.
func (s *stream) line(e eventstream.Event) {
	if e.Time.IsZero() {
		e.Time = s.now()
	}
	if s.last = e.Type; s.key != nil {
		key := s.key.Release()
		e.Release, e.Cluster = &key, s.key.Cluster
	}
	// Errors are ignored: a run must not stop halfway because its reader is gone.
	_ = eventstream.Write(s.raw.Out, e, s.errorMask())
}

// end implements presenter.
func (s *stream) end(ctx context.Context, how ending) error {
	s.close(ctx, how)
	return how.err
}

// close prints the summary of the run that has just ended, unless it has been printed already.
func (s *stream) close(ctx context.Context, end ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == eventstream.Summary {
		return
	}
	s.line(eventstream.Event{Type: eventstream.Summary, Summary: s.summary(ctx, end)})
}
