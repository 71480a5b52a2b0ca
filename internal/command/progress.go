package command

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/plan"
)

// progress prints what a run does on the error stream: a line a stage, and a
// line for each object that takes its time or goes wrong.
func (p *program) progress(made *plan.Plan) apply.Observer {
	return &progress{program: p, began: map[string]time.Time{}}
}

type progress struct {
	*program
	mu    sync.Mutex
	began map[string]time.Time
}

// Observe implements apply.Observer.
func (p *progress) Observe(e apply.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case apply.StageStarted:
		p.line("• %s", e.Stage)
	case apply.StepStarted:
		p.began[e.Step] = e.Time
		if e.Message == string(plan.OpRun) {
			p.line("    %s started", e.Object)
		}
	case apply.StepProgress:
		p.line("    %s: %s", e.Object, e.Message)
	case apply.StepDone:
		if took := e.Time.Sub(p.began[e.Step]); took >= time.Second {
			p.line("    %s: done after %s", e.Object, took.Round(100*time.Millisecond))
		}
	case apply.StepFailed:
		p.line("    ✗ %s: %s", e.Object, firstLine(e.Message))
	case apply.StepRetried:
		p.line("    %s: trying again: %s", e.Object, firstLine(e.Message))
	case apply.LogOutput:
		p.line("    log of %s:\n%s", e.Object, indentBy("      | ", e.Message))
	case apply.RollbackStarted:
		p.line("• %s", e.Message)
	}
}

func (p *progress) line(format string, args ...any) {
	fmt.Fprintln(p.streams.Err, printable(fmt.Sprintf(format, args...)))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func indentBy(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}
