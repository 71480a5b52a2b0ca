package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// underway is what is known about a run in progress. A second Ctrl-C needs it to print what the
// first one would have tidied up.
type underway struct {
	mu sync.Mutex
	// plan is the plan that is being applied. back is set if it is the plan of an automatic
	// rollback.
	plan *plan.Plan
	back bool
	// record is the state that the release is recorded in, as far as is known, or nil. A pending record counts from
	// the start of its write, which may have been stored. recording is another one whose write has begun, or nil.
	record, recording *plan.Record
	// reads is set by a command that writes nothing to a cluster: it leaves nothing behind.
	reads bool
	// gone says which releases this command has uninstalled before.
	gone string
	// others are the runs of a set, each with its own underway.
	others []*program
}

// also adds a run that is in progress at the same time.
func (u *underway) also(run *program) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.others = append(u.others, run)
}

// over forgets a run that has ended.
func (u *underway) over() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.plan, u.record, u.recording = nil, nil, nil
}

// turnTo is called by a command that uninstalls several releases before each of them, with those that are gone and
// the arguments that are left to do: what is done is neither what would be left behind nor what hints are to repeat.
func (p *program) turnTo(gone, left []string) {
	p.underway.over()
	p.underway.mu.Lock()
	defer p.underway.mu.Unlock()
	p.underway.gone, p.commandLine.Arguments = uninstalled(gone), left
}

// uninstalled says which releases are gone, "" of none.
func uninstalled(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is uninstalled"
	}
	return strings.Join(names, ", ") + " are uninstalled"
}

// onlyReads is called by a command that writes nothing to a cluster.
func (u *underway) onlyReads() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reads = true
}

// begin is called for each plan that is about to be applied.
func (u *underway) begin(made *plan.Plan) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.plan, u.back, u.record, u.recording = made, false, nil, nil
}

// heard returns an observer that passes every event to another one and keeps track of the run.
func (u *underway) heard(by apply.Observer) apply.Observer { return both{u, by} }

type both struct {
	underway *underway
	apply.Observer
}

// Observe implements apply.Observer.
func (b both) Observe(e apply.Event) {
	b.underway.see(e)
	b.Observer.Observe(e)
}

func (u *underway) see(e apply.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case e.Type == apply.RollbackStarted:
		u.plan, u.back = e.Plan, true
	case e.Op != plan.OpRecord || u.plan == nil:
	case e.Type == apply.StepStarted:
		u.plan.AllSteps(func(_ plan.StageName, s *plan.Step) {
			switch {
			case s.ID != e.Step || s.Record.Revision == 0:
			case s.Record.Status.Pending():
				u.record = s.Record
			default:
				u.recording = s.Record
			}
		})
	case e.Type == apply.StepDone && u.recording != nil:
		u.record, u.recording = u.recording, nil
	case e.Type == apply.StepFailed:
		u.recording = nil
	}
}

// state returns the state that the release is left in, "" if none was recorded. The caller holds the mutex.
func (u *underway) state() string {
	switch {
	case u.recording == nil && u.record == nil:
		return ""
	case u.recording == nil:
		return fmt.Sprintf("%s (revision %d)", u.record.Status, u.record.Revision)
	case u.record == nil:
		return fmt.Sprintf("being recorded as %s (revision %d)", u.recording.Status, u.recording.Revision)
	}
	return fmt.Sprintf("%s, and being recorded as %s (revision %d)", u.record.Status, u.recording.Status, u.recording.Revision)
}

// leftError says what the program leaves behind when it exits immediately.
type leftError struct{ text, next string }

func (e *leftError) Error() string { return e.text }

// left prints what the program leaves behind and how to go on. It makes no request, because a user
// who presses Ctrl-C twice does not want to wait for a cluster.
func (p *program) left(ctx context.Context) int {
	if p.region != nil {
		p.region.Show(nil)
	}
	err := p.leftover()
	summarized := make(chan struct{})
	go func() {
		defer close(summarized)
		_ = p.presenter.end(ctx, ending{err: err}) // it is err
	}()
	select {
	case <-summarized:
	case <-time.After(patience): // a line before it is not read
	}
	p.tell(err)
	return exitLeft
}

// patience is how long the last event may take to be written. A reader that has stalled takes none, and whoever
// presses Ctrl-C twice does not wait for it.
const patience = time.Second

func (p *program) leftover() *leftError {
	p.underway.mu.Lock()
	defer p.underway.mu.Unlock()
	if len(p.underway.others) > 0 {
		return leftoverOf(p.underway.others)
	}
	made, state := p.underway.plan, p.underway.state()
	switch {
	case p.underway.reads:
		return &leftError{text: "stopped at once"}
	case state == "" && p.underway.gone != "":
		return &leftError{text: "stopped at once: " + p.underway.gone + "; nothing was recorded after that"}
	case state == "":
		return &leftError{text: "stopped at once; no revision was recorded"}
	}
	out := &leftError{text: "stopped at once: "}
	if p.underway.gone != "" {
		out.text += p.underway.gone + "; "
	}
	out.text += fmt.Sprintf("release %s is %s", made.Release, state)
	goOn := ""
	switch {
	case !p.underway.back:
		goOn = p.again(made)
	case made.Operation == plan.Rollback:
		goOn = p.command("rollback", made.Release.Name, strconv.Itoa(made.RollbackTo))
	default:
		goOn = p.command("uninstall", made.Release.Name)
	}
	switch {
	case goOn == "": // a set, which has to be planned again, or a test
		out.next = "look: " + p.command("status", made.Release.Name)
	case made.NoLock:
		out.next = "go on: " + goOn + " --take-over"
	default:
		out.next = "go on: " + goOn
	}
	if !made.NoLock {
		out.text += fmt.Sprintf("; its lock expires in %s, and the next run waits for that", releasestore.DefaultDuration)
	}
	return out
}

// leftoverOf combines what the runs of a set leave behind.
func leftoverOf(runs []*program) *leftError {
	out := &leftError{text: "stopped at once; no revision is pending"}
	var texts, next []string
	for _, run := range runs {
		if left := run.leftover(); left.next != "" {
			texts, next = append(texts, left.text), append(next, left.next)
		}
	}
	if len(texts) > 0 {
		out.text, out.next = strings.Join(texts, "\n"), strings.Join(next, "\n")
	}
	return out
}
