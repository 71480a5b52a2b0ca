package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// progress prints what a run does on the error stream: a line per stage, and a line for each object
// that takes long or fails. On a terminal, each object in progress also has a line at the bottom
// that is redrawn in place. It implements apply.Observer.
type progress struct {
	*program
	mu sync.Mutex
	// steps are the steps of the current stage that have begun.
	steps map[string]*stepProgress
	// failures are the errors of the failed steps of that stage; nil for a step without an error of
	// its own.
	failures []error
	back     rollbackSteps
	stage    stageProgress
	// reasons are progress events with reasons, gathered to be printed together.
	reasons []apply.Event
	telling *time.Timer
	// region is nil if the error stream is not a terminal.
	region *terminal.Region
	redraw *time.Timer
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
	ended         bool
}

// progress returns an observer that prints on the error stream, with a live region on a terminal.
func (p *program) progress() *progress {
	out := &progress{program: p, steps: map[string]*stepProgress{}}
	if r, ok := p.raw.Err.(*terminal.Region); ok { // of an earlier run: a command may work on several releases
		out.region = r
	} else if r := terminal.RegionOf(p.raw.Err); r != nil {
		out.region, p.raw.Err, p.streams.Err = r, r, terminal.Clean(r)
	}
	return out
}

// Observe implements apply.Observer. A step and the wait at its end report under the same ID; the
// step begins once and ends once.
func (p *progress) Observe(e apply.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back.see(e)
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
		p.warn(e.Message)
	case apply.StepStarted:
		p.started(e)
	case apply.StepProgress:
		p.later(e)
	case apply.StepDone, apply.StepFailed:
		p.ended(e)
	case apply.StepRetried:
		p.headline("    %s: trying again: %s", subject(e), e.Message)
	case apply.LogOutput:
		p.line("    log of %s:\n%s", e.Log.Of, indentBy("      | ", strings.Join(e.Log.Lines, "\n")))
	}
}

// Stop implements watcher.
func (p *progress) Stop() {
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

// rollback prints why a run is rolled back, in full and immediately, because the rollback may take
// as long as the run that failed. Then it prints the target of the rollback.
func (p *progress) rollback(e apply.Event) {
	if len(p.failures) != 1 || !errors.Is(e.Cause, p.failures[0]) {
		p.headline("✗ %s", e.Cause)
	}
	message, behind := e.Text() // what the first line quotes may go on behind it
	if _, rest, more := strings.Cut(p.safe(strings.Join(append([]string{firstLine(message)}, behind...), "\n")), "\n"); more {
		p.block([]string{rest})
	}
	p.hideMore(e.Plan)
	p.line("• %s: %s", e.Next, counts(e.Plan.Summary))
}

func (p *progress) started(e apply.Event) {
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
func (p *progress) later(e apply.Event) {
	s := p.steps[e.Step]
	if s == nil || s.ended {
		return
	}
	s.state = e.Message
	switch {
	case len(e.Reasons) > 0:
		s.reason = e.Reasons[0].String()
		p.because(e)
	case p.region != nil: // the region shows the state
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

func (p *progress) ended(e apply.Event) {
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
func (p *progress) forget() {
	for _, s := range p.steps {
		s.end()
	}
	clear(p.steps)
	if p.region != nil {
		p.region.Show(nil)
	}
	if p.redraw != nil {
		p.redraw.Stop()
		p.redraw = nil
	}
	p.stage = stageProgress{}
}

// endStage prints the duration of a stage with several objects if it took long.
func (p *progress) endStage(now time.Time) {
	if s := p.stage; s.steps > 1 && s.done >= s.steps && now.Sub(s.began) >= lengthy {
		p.line("    %d done in %s", s.steps, now.Sub(s.began).Round(100*time.Millisecond))
	}
}

// live redraws the objects in progress at intervals, until the stage ends.
func (p *progress) live() {
	if p.region == nil || p.redraw != nil {
		return
	}
	p.redraw = time.AfterFunc(redrawing, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.redraw == nil {
			return
		}
		p.region.Show(p.pending(time.Now()))
		p.redraw.Reset(redrawing)
	})
}

// pending returns a line for each object that takes long, the earliest at the top.
func (p *progress) pending(now time.Time) []string {
	var open []*stepProgress
	for _, s := range p.steps {
		if !s.ended && now.Sub(s.began) >= settling {
			open = append(open, s)
		}
	}
	slices.SortFunc(open, func(a, b *stepProgress) int {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.name, b.name))
	})
	var lines []string
	if p.stage.steps > 1 && len(open) > 0 {
		lines = append(lines, fmt.Sprintf("    %d/%d", p.stage.done, p.stage.steps))
	}
	for _, s := range open {
		state := s.state
		if state == "" {
			state = "under way"
		}
		line := fmt.Sprintf("    %s: %s, %s", s.name, firstLine(p.safe(state)), now.Sub(s.began).Truncate(time.Second))
		if s.reason != "" {
			line += "; " + firstLine(p.safe(s.reason))
		}
		lines = append(lines, line)
	}
	return lines
}

// subject returns what an event is about: an object, or the release's record.
func subject(e apply.Event) string {
	if e.Object.Kind == "" {
		return "the release's record"
	}
	return e.Object.String()
}

func (p *progress) line(format string, args ...any) {
	fmt.Fprintln(p.streams.Err, p.safe(fmt.Sprintf(format, args...)))
}

// headline prints the first line of a text, in which secrets of several lines have become tokens.
func (p *progress) headline(format string, args ...any) {
	fmt.Fprintln(p.streams.Err, firstLine(p.safe(fmt.Sprintf(format, args...))))
}

// safe removes secrets and control characters from a text.
func (p *progress) safe(text string) string { return escape.Text(p.errorMask().Text(text)) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func indentBy(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}
