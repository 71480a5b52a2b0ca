package command

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	// settling is how long a state has to last to be worth a line.
	settling = 400 * time.Millisecond
	// lengthy is what counts as having taken its time.
	lengthy = time.Second
)

// progress prints what a run does on the error stream: a line a stage, and a
// line for each object that takes its time or goes wrong. It implements
// apply.Observer.
type progress struct {
	*program
	mu sync.Mutex
	// steps are those of the stage under way that have begun.
	steps map[string]*stepProgress
}

type stepProgress struct {
	began time.Time
	hook  bool
	// state is the newest; timer prints it when it lasts.
	state string
	timer *time.Timer
	ended bool
}

func (p *program) progress() *progress {
	return &progress{program: p, steps: map[string]*stepProgress{}}
}

// Observe implements apply.Observer. A step and the wait it ends with report
// under one ID; it begins once and ends once.
func (p *progress) Observe(e apply.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case apply.StageStarted:
		p.forget()
		if !bookkeeping(e.Stage) {
			p.line("• %s", e.Stage)
		}
	case apply.RollbackStarted:
		p.forget()
		why, next, _ := strings.Cut(e.Message, "\n")
		p.line("✗ %s\n• %s", why, next)
	case apply.Note:
		p.line("• %s", e.Message)
	case apply.StepStarted:
		p.started(e)
	case apply.StepProgress:
		p.later(e)
	case apply.StepDone, apply.StepFailed:
		p.ended(e)
	case apply.StepRetried:
		p.line("    %s: trying again: %s", subject(e), firstLine(e.Message))
	case apply.LogOutput:
		p.line("    log of %s:\n%s", e.Object, indentBy("      | ", e.Message))
	}
}

// Stop ends what would still be printed later.
func (p *progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
}

// bookkeeping are the stages that are not worth a line.
func bookkeeping(stage string) bool {
	return stage == string(plan.StagePending) || stage == string(plan.StageRecord)
}

func (p *progress) started(e apply.Event) {
	if p.steps[e.Step] != nil {
		return
	}
	hook := e.Message == string(plan.OpRun)
	p.steps[e.Step] = &stepProgress{began: e.Time, hook: hook}
	if hook {
		p.line("    %s: started", e.Object)
	}
}

// later prints a state when no other one follows it soon.
func (p *progress) later(e apply.Event) {
	s := p.steps[e.Step]
	if s == nil || s.ended {
		return
	}
	s.state = e.Message
	if s.timer != nil {
		s.timer.Reset(settling)
		return
	}
	s.timer = time.AfterFunc(settling, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.state != "" && !s.ended {
			p.line("    %s: %s", e.Object, s.state)
			s.state = ""
		}
	})
}

func (p *progress) ended(e apply.Event) {
	s := p.steps[e.Step]
	if s == nil || s.ended {
		return
	}
	s.end()
	took := e.Time.Sub(s.began)
	switch {
	case e.Type == apply.StepFailed:
		p.line("    ✗ %s: %s", e.Object, firstLine(e.Message))
	case s.hook, took >= lengthy:
		p.line("    %s: done after %s", e.Object, took.Round(100*time.Millisecond))
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
}

// subject is what a retried request was about: records have no object.
func subject(e apply.Event) string {
	if e.Object.Kind == "" {
		return "the release's record"
	}
	return e.Object.String()
}

func (p *progress) line(format string, args ...any) {
	fmt.Fprintln(p.streams.Err, printable(p.mask.Load().Text(fmt.Sprintf(format, args...))))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func indentBy(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}
