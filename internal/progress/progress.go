// Package progress prints what a run does, for people: a line per stage, and one for each object that
// takes long or fails. On a terminal, each object in progress also has a line at the bottom that is redrawn
// in place.
//
// It observes a run and has no influence on it. It doesn't know what is secret, it prints neither plan nor
// result, and it doesn't choose the stream.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	// settling is how long a state must last before it gets a line.
	settling = 400 * time.Millisecond
	// lengthy is how long a stage or a step must take for its duration to be printed.
	lengthy = time.Second
	// redrawing is how often the lines on a terminal are redrawn.
	redrawing = 200 * time.Millisecond
)

// Output is where progress is printed, and how.
type Output struct {
	// To removes from what is written to it whatever would harm a terminal.
	To io.Writer
	// Region is the bottom of the terminal; nil if To is none.
	Region *terminal.Region
	// Mask takes the secrets out of a text.
	Mask func(text string) string
	// Hide is called with the plan of a rollback, whose secrets Mask takes out from then on.
	Hide func(back *plan.Plan)
}

// Printer prints what a run does. It implements apply.Observer.
type Printer struct {
	Output
	mu sync.Mutex
	// steps are the steps of the current stage that have begun.
	steps map[string]*stepProgress
	// failures are the errors of the failed steps of that stage; nil for a step without an error of
	// its own.
	failures []error
	back     Rollback
	stage    stageProgress
	// reasons are progress events with reasons, gathered to be printed together.
	reasons []apply.Event
	telling *time.Timer
	redraw  *time.Timer
}

// stageProgress is the progress of the current stage.
type stageProgress struct {
	began       time.Time
	steps, done int
}

type stepProgress struct {
	name  string
	began time.Time
	hook  bool
	// state is the latest state, which timer prints if it lasts; reason is why it lasts.
	state, reason string
	timer         *time.Timer
	// retried is why it was tried again the last time.
	retried string
	ended   bool
}

// New returns a printer for one run.
func New(to Output) *Printer { return &Printer{Output: to, steps: map[string]*stepProgress{}} }

// Observe implements apply.Observer. A step and the wait at its end report under the same ID; the
// step begins once and ends once.
func (p *Printer) Observe(e apply.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back.See(e)
	if e.Type != apply.StepProgress {
		p.tellReasons()
	}
	switch e.Type {
	case apply.StageStarted:
		p.endStage(e.Time)
		p.forget()
		p.stage = stageProgress{began: e.Time, steps: e.Steps}
		if !bookkeeping(e.Stage) {
			p.line("• %s", e.Stage)
		}
	case apply.RollbackStarted:
		p.rollback(e)
		p.forget()
		p.failures = nil
	case apply.Note:
		p.line("• %s", e.Message)
	case apply.Warning:
		p.line("Warning: %s", e.Message)
	case apply.StepStarted:
		p.started(e)
	case apply.StepProgress:
		p.later(e)
	case apply.StepDone, apply.StepFailed:
		p.ended(e)
	case apply.StepRetried:
		p.retried(e)
	case apply.LogOutput:
		p.line("    log of %s:\n%s", e.Log.Of, indentBy("      | ", strings.Join(e.Log.Lines, "\n")))
	}
}

// retried says why a write is tried again, once as long as the reason stays the same.
func (p *Printer) retried(e apply.Event) {
	s := p.steps[e.Step]
	if s != nil && s.retried == e.Message {
		return
	}
	if s != nil {
		s.retried = e.Message
	}
	p.headline("    %s: trying again: %s", subject(e), e.Message)
}

// Stop ends the run. Nothing is printed after it.
func (p *Printer) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tellReasons()
	p.forget()
	p.tellUndone()
}

// bookkeeping reports whether a stage only writes records and gets no line.
func bookkeeping(stage string) bool {
	return stage == string(plan.StagePending) || stage == string(plan.StageRecord)
}

func (p *Printer) started(e apply.Event) {
	if p.steps[e.Step] != nil {
		return
	}
	hook := e.Op == plan.OpRun
	p.steps[e.Step] = &stepProgress{name: subject(e), began: e.Time, hook: hook}
	if hook {
		p.line("    %s: started", e.Object)
	}
	p.live()
}

// later prints a state unless another one follows soon.
func (p *Printer) later(e apply.Event) {
	s := p.steps[e.Step]
	if s == nil || s.ended {
		return
	}
	if s.state != e.Message {
		s.state, s.reason = e.Message, "" // the reason was that for the state before
	}
	switch {
	case len(e.Reasons) > 0:
		s.reason = e.Reasons[0].String()
		p.because(e)
	case p.Region != nil: // the region shows the state
	case s.timer != nil:
		s.timer.Reset(settling)
	default:
		s.timer = time.AfterFunc(settling, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if s.state != "" && !s.ended {
				p.line("    %s: %s", s.name, s.state)
				s.state = ""
			}
		})
	}
}

func (p *Printer) ended(e apply.Event) {
	s := p.steps[e.Step]
	if s == nil || s.ended {
		return
	}
	s.end()
	if e.Type == apply.StepDone {
		p.stage.done++
	}
	took := e.Time.Sub(s.began)
	switch {
	case e.Type == apply.StepFailed:
		p.failures = append(p.failures, e.Cause)
		p.headline("    ✗ %s: %s", s.name, e.Message)
	case s.hook, took >= lengthy:
		p.line("    %s: done after %s", s.name, took.Round(100*time.Millisecond))
	}
}

func (s *stepProgress) end() {
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// forget drops the steps of a stage that has ended.
func (p *Printer) forget() {
	for _, s := range p.steps {
		s.end()
	}
	clear(p.steps)
	if p.Region != nil {
		p.Region.Show(nil)
	}
	if p.redraw != nil {
		p.redraw.Stop()
		p.redraw = nil
	}
	p.stage = stageProgress{}
}

// endStage prints the duration of a stage with several objects if it took long.
func (p *Printer) endStage(now time.Time) {
	if s := p.stage; s.steps > 1 && s.done >= s.steps && now.Sub(s.began) >= lengthy {
		p.line("    %d done in %s", s.steps, now.Sub(s.began).Round(100*time.Millisecond))
	}
}

// subject returns what an event is about: an object, or the release's record.
func subject(e apply.Event) string {
	if e.Object.Kind == "" {
		return "the release's record"
	}
	return e.Object.String()
}

func (p *Printer) line(format string, args ...any) {
	fmt.Fprintln(p.To, p.safe(fmt.Sprintf(format, args...)))
}

// headline prints the first line of a text, in which secrets of several lines have become tokens.
func (p *Printer) headline(format string, args ...any) {
	fmt.Fprintln(p.To, firstLine(p.safe(fmt.Sprintf(format, args...))))
}

// safe removes secrets and control characters from a text.
func (p *Printer) safe(text string) string { return escape.Text(p.Mask(text)) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func indentBy(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}
