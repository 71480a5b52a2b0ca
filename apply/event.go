package apply

import (
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Observer receives the events of a run, from many goroutines but one at a time.
type Observer interface {
	Observe(Event)
}

// Event is something that happened during a run. Fields that its type does not
// mention are empty.
type Event struct {
	Time  time.Time
	Type  EventType
	Stage string
	// Steps is the number of steps in the stage, for StageStarted.
	Steps int
	// Step is the ID of the step, Op what it does, and Object what it acts on;
	// they are empty for events of the whole run.
	Step   string
	Op     plan.Op
	Object manifest.ID
	// Message is a state, an error's text, a note or a warning.
	Message string
	// Diagnosis explains a lasting state or a failure. For LogOutput it holds only the log.
	Diagnosis
	// Cause is, for StepFailed, the step's own error if it has one; for RollbackStarted,
	// an error that wraps those of the failed steps.
	Cause error
	// Next says where the rollback leads, and Plan is its plan, both for RollbackStarted.
	Next string
	Plan *plan.Plan
}

// EventType says what has happened.
type EventType string

const (
	StageStarted EventType = "stage"
	StepStarted  EventType = "started"
	// StepProgress: Message is a new state of what the step waits for.
	StepProgress EventType = "progress"
	// StepDone: Message is the state that a wait has ended with.
	StepDone EventType = "done"
	// StepFailed: Message is why.
	StepFailed EventType = "failed"
	// StepRetried: a request is sent again; Message is why.
	StepRetried EventType = "retried"
	// LogOutput: Log is a hook's log.
	LogOutput EventType = "log"
	// RollbackStarted opens the rollback of an atomic run that failed: see Cause,
	// Next and Plan.
	RollbackStarted EventType = "rollback"
	// Note says what a run waits for before it begins or ends, why it is planned again, or what it
	// left undone although it succeeded.
	Note EventType = "note"
	// Warning warns of a danger that is not in the plan.
	Warning EventType = "warning"
)

// Diagnosis explains why an object is not ready, as far as events, containers and logs show it.
type Diagnosis struct {
	// Reasons are container states and warning events of the object and its pods, at
	// most a few, newest last.
	Reasons []Reason
	// Log is the end of the log of one container, or of the pods of a Job. It is shown
	// and not recorded: permission to read records does not include permission to read logs.
	Log Log
}

// Log is a log, or the end of one.
type Log struct {
	// Of names the object: "Pod/web-1, container app".
	Of    string
	Lines []string
}

// Text returns the diagnosis line by line, for people to read. Lines of the log are
// prefixed with a bar.
func (d Diagnosis) Text() []string {
	var lines []string
	for _, r := range d.Reasons {
		lines = append(lines, r.String())
	}
	if len(d.Log.Lines) == 0 {
		return lines
	}
	const bar = "| "
	lines = append(lines, bar+"log of "+d.Log.Of+":")
	for _, line := range d.Log.Lines {
		lines = append(lines, bar+line)
	}
	return lines
}

// Text returns the event as text, in two parts: message says what has happened, on one line except
// for logs and for a rollback, whose second line says where it leads; details is the reason, line by
// line.
func (e Event) Text() (message string, details []string) {
	message, details = e.Message, e.Diagnosis.Text()
	switch e.Type {
	case LogOutput:
		return strings.Join(e.Log.Lines, "\n"), nil
	case StepFailed:
		switch {
		case len(details) > 0:
		case e.Cause != nil:
			return headed(linesOf(e.Cause, true))
		default:
			return headed(textLines(e.Message))
		}
	case RollbackStarted:
		message, details = headed(linesOf(e.Cause, true))
		message += "\n" + e.Next
	case StageStarted, StepStarted, StepProgress, StepDone, StepRetried, Note, Warning:
	}
	return message, details
}

// stepEvent returns an event of a step; stage may be "".
func stepEvent(t EventType, stage plan.StageName, s *plan.Step) Event {
	return Event{Type: t, Stage: string(stage), Step: s.ID, Op: s.Op, Object: s.Object}
}
