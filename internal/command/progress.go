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
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	// settling is how long a state has to last to be worth a line.
	settling = 400 * time.Millisecond
	// lengthy is what counts as having taken its time.
	lengthy = time.Second
	// redrawing is how often the lines on a terminal are drawn anew.
	redrawing = 200 * time.Millisecond
)

// progress prints what a run does on the error stream: a line a stage, and a
// line for each object that takes its time or goes wrong. On a terminal the
// objects under way have a line each below that, which is drawn anew in place.
// It implements apply.Observer.
type progress struct {
	*program
	mu sync.Mutex
	// steps are those of the stage under way that have begun.
	steps map[string]*stepProgress
	// failures are the errors of the steps that have failed in that stage, nil where a
	// step has none of its own.
	failures []error
	back     rollbackSteps
	stage    stageProgress
	// reasons are events with what is behind a state, to be told together.
	reasons []apply.Event
	telling *time.Timer
	// region is nil without a terminal.
	region *liveRegion
	redraw *time.Timer
}

// stageProgress is how far the stage under way has come.
type stageProgress struct {
	began       time.Time
	steps, done int
}

type stepProgress struct {
	name  string
	began time.Time
	hook  bool
	// state is the newest; timer prints it when it lasts. reason is why it lasts.
	state, reason string
	timer         *time.Timer
	ended         bool
}

func (p *program) progress() *progress {
	out := &progress{program: p, steps: map[string]*stepProgress{}}
	if r, ok := p.raw.Err.(*liveRegion); ok { // of an earlier run: of several releases each has one
		out.region = r
	} else if r := newLiveRegion(p.raw.Err); r != nil {
		out.region, p.raw.Err, p.streams.Err = r, r, &cleaned{to: r}
	}
	return out
}

// Observe implements apply.Observer. A step and the wait it ends with report
// under one ID; it begins once and ends once.
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
		p.warn(p.mask.Load().Text(e.Message))
	case apply.StepStarted:
		p.started(e)
	case apply.StepProgress:
		p.later(e)
	case apply.StepDone, apply.StepFailed:
		p.ended(e)
	case apply.StepRetried:
		p.line("    %s: trying again: %s", subject(e), firstLine(e.Message))
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

// bookkeeping are the stages that are not worth a line.
func bookkeeping(stage string) bool {
	return stage == string(plan.StagePending) || stage == string(plan.StageRecord)
}

// rollback tells why there is a way back, with all that is known of it: the way
// back may take as long as what has failed. Then it tells where it leads.
func (p *progress) rollback(e apply.Event) {
	if len(p.failures) != 1 || !errors.Is(e.Cause, p.failures[0]) {
		p.line("✗ %s", firstLine(e.Cause.Error()))
	}
	_, behind := e.Text()
	for _, reason := range behind {
		p.line("      %s", reason)
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

// later prints a state when no other one follows it soon.
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
	case p.region != nil: // it is in a line of its own
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
		why := firstLine(e.Message)
		p.failures = append(p.failures, e.Cause)
		p.line("    ✗ %s: %s", s.name, why)
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

// forget drops the steps of a stage that is over.
func (p *progress) forget() {
	for _, s := range p.steps {
		s.end()
	}
	clear(p.steps)
	if p.region != nil {
		p.region.show(nil)
	}
	if p.redraw != nil {
		p.redraw.Stop()
		p.redraw = nil
	}
	p.stage = stageProgress{}
}

// endStage tells of a stage with many objects that has taken its time.
func (p *progress) endStage(now time.Time) {
	if s := p.stage; s.steps > 1 && s.done >= s.steps && now.Sub(s.began) >= lengthy {
		p.line("    %d done in %s", s.steps, now.Sub(s.began).Round(100*time.Millisecond))
	}
}

// live draws the objects under way, now and then, as long as there are any.
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
		p.region.show(p.pending(time.Now()))
		p.redraw.Reset(redrawing)
	})
}

// pending are the objects that take their time, the one that began first first.
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
		line := fmt.Sprintf("    %s: %s, %s", s.name, firstLine(state), now.Sub(s.began).Truncate(time.Second))
		if s.reason != "" {
			line += "; " + firstLine(s.reason)
		}
		lines = append(lines, p.safe(line))
	}
	return lines
}

// subject is what an event is about: records have no object.
func subject(e apply.Event) string {
	if e.Object.Kind == "" {
		return "the release's record"
	}
	return e.Object.String()
}

func (p *progress) line(format string, args ...any) {
	fmt.Fprintln(p.streams.Err, p.safe(fmt.Sprintf(format, args...)))
}

// safe is a text without secrets and escapes.
func (p *progress) safe(text string) string { return escape.Text(p.mask.Load().Text(text)) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func indentBy(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}
