// Package eventstream defines the stream of events that commands that apply a
// plan print with -o json: one JSON object per line, the last one a summary.
//
// It observes nothing itself; internal/command fills in the events.
package eventstream

import (
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// FormatVersion is the version of the stream of events. Minor versions only add
// types and fields.
const FormatVersion = "1.0"

// Type is the type of an event, which determines what it reports.
type Type string

const (
	// Version is the first line: the versions of the tool and of the formats.
	Version Type = "version"
	// Planned holds a plan that is about to be applied, or that can't be.
	Planned Type = "planned"
	Stage   Type = "stage"
	Started Type = "started"
	// Progress is a new state of an object that the run is waiting for.
	Progress Type = "progress"
	// Retried says that a request is sent again.
	Retried Type = "retried"
	// Log is the log of a hook.
	Log    Type = "log"
	Done   Type = "done"
	Failed Type = "failed"
	// Rollback starts the rollback of a failed atomic run.
	Rollback Type = "rollback"
	Note     Type = "note"
	Warning  Type = "warning"
	// Summary is the last line, however the run ends.
	Summary Type = "summary"
)

// Types returns all types with the JSON names of the fields that every event
// of that type has. Other fields are present only if there is something to
// report.
func Types() map[Type][]string {
	step := []string{"stage", "step", "op"}
	return map[Type][]string{
		Version:  {"formatVersion", "planFormatVersion", "toolVersion"},
		Planned:  {"plan"},
		Stage:    {"stage"},
		Started:  step,
		Progress: append([]string{"object", "message", "elapsedSeconds"}, step...),
		Retried:  {"message"},
		Log:      {"step", "object", "message"},
		Done:     append([]string{"elapsedSeconds"}, step...),
		Failed:   append([]string{"message", "elapsedSeconds"}, step...),
		Rollback: {"message", "undoing"},
		Note:     {"message"},
		Warning:  {"message"},
		Summary:  {"summary"},
	}
}

// Event is one line of the stream.
type Event struct {
	Type Type `json:"type"`
	// Time is when it happened, in the time zone of this machine.
	Time time.Time `json:"time"`

	// Release is the release that the event belongs to if several are applied, Cluster the set's
	// name for its cluster.
	Release *release.Key `json:"release,omitempty"`
	Cluster string       `json:"cluster,omitempty"`

	FormatVersion     string `json:"formatVersion,omitempty"`
	PlanFormatVersion string `json:"planFormatVersion,omitempty"`
	ToolVersion       string `json:"toolVersion,omitempty"`

	// Undoing marks events from Rollback on: the rollback of an atomic run is carried out.
	Undoing bool `json:"undoing,omitempty"`

	Stage string `json:"stage,omitempty"`
	// Step is the ID of a step of the plan.
	Step   string       `json:"step,omitempty"`
	Op     plan.Op      `json:"op,omitempty"`
	Object *manifest.ID `json:"object,omitempty"`
	// Message is the state, the error, the log or whatever else there is to report.
	Message string `json:"message,omitempty"`
	// Reasons explain the message: container states, warning events and log
	// lines of pods, oldest first.
	Reasons []string `json:"reasons,omitempty"`
	// ElapsedSeconds is the time since the step began.
	ElapsedSeconds *float64 `json:"elapsedSeconds,omitempty"`

	Plan    *plan.Document `json:"plan,omitempty"`
	Summary *RunSummary    `json:"summary,omitempty"`
}

// RunOutcome is how a run ended.
type RunOutcome string

const (
	RunDone RunOutcome = "done"
	// RunNothing means that there was nothing to do.
	RunNothing RunOutcome = "nothing"
	// RunBlocked means that the plan has blocking problems; nothing was written.
	RunBlocked RunOutcome = "blocked"
	// RunStale means that the reviewed plan no longer holds; nothing was written.
	RunStale RunOutcome = "stale"
	// RunLocked means that another operation holds the lock; nothing was written.
	RunLocked         RunOutcome = "locked"
	RunCancelled      RunOutcome = "cancelled"
	RunFailed         RunOutcome = "failed"
	RunRolledBack     RunOutcome = "rolledBack"
	RunRollbackFailed RunOutcome = "rollbackFailed"
)

// RunOutcomes returns all outcomes.
func RunOutcomes() []RunOutcome {
	return []RunOutcome{
		RunDone, RunNothing, RunBlocked, RunStale, RunLocked, RunCancelled, RunFailed, RunRolledBack, RunRollbackFailed,
	}
}

// RunSummary sums up what a run has done.
type RunSummary struct {
	Outcome RunOutcome `json:"outcome"`
	// ExitCode is the exit code of the process or, with several releases, what
	// it would be for this one.
	ExitCode  int            `json:"exitCode"`
	Operation plan.Operation `json:"operation,omitempty"`
	Release   *release.Key   `json:"release,omitempty"`
	// Revision is the newest revision that the run has written, and Status its
	// status; after a rollback, they are those of the rollback.
	Revision int            `json:"revision,omitempty"`
	Status   release.Status `json:"status,omitempty"`
	// Counts are the numbers of successful steps by op, without those of the rollback.
	Counts map[plan.Op]int `json:"counts"`
	// Failed are the IDs of the steps that failed.
	Failed         []string `json:"failed,omitempty"`
	ElapsedSeconds float64  `json:"elapsedSeconds"`
	// Error is what is printed on standard error, Hint what to do about it.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Undo is present if an atomic run failed and was to be undone.
	Undo *UndoSummary `json:"undo,omitempty"`
	// Notes are the chart's rendered notes, after installs and upgrades.
	Notes string `json:"notes,omitempty"`
	// Record is the revision in the format of Helm's records, as helm -o json
	// prints it, with secrets masked.
	Record any `json:"record,omitempty"`
}

// UndoSummary sums up what the rollback has done.
type UndoSummary struct {
	// ToRevision is the revision that was to be restored; 0 if a first install
	// was to be uninstalled.
	ToRevision int `json:"toRevision"`
	// Error is why the rollback failed.
	Error string `json:"error,omitempty"`
	// Undone lists the rollback's changes that were made, NotUndone those that
	// were not.
	Undone    []UndoStep `json:"undone,omitempty"`
	NotUndone []UndoStep `json:"notUndone,omitempty"`
}

// UndoStep is one change of the rollback.
type UndoStep struct {
	Step   string      `json:"step"`
	Op     plan.Op     `json:"op"`
	Object manifest.ID `json:"object"`
}
