// Package eventstream is the stream of events that commands which apply a plan
// print with -o json: one JSON object a line, the last one a summary.
//
// It observes nothing itself; internal/command fills the events in.
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

// Type says what an event of the stream tells.
type Type string

const (
	// Version is the first line: who writes, and in which version.
	Version Type = "version"
	// Planned holds a plan that is going to be applied, or that can't be.
	Planned Type = "planned"
	Stage   Type = "stage"
	Started Type = "started"
	// Progress is a new state of an object that is waited for.
	Progress Type = "progress"
	// Retried is a request that is sent again.
	Retried Type = "retried"
	// Log is the log of a hook.
	Log    Type = "log"
	Done   Type = "done"
	Failed Type = "failed"
	// Rollback opens the rollback of an atomic run that failed.
	Rollback Type = "rollback"
	Note     Type = "note"
	Warning  Type = "warning"
	// Summary is the last line, whichever way a run ends.
	Summary Type = "summary"
)

// Types are all types with the fields that every event of that type has,
// by their JSON names. Other fields are there when there is something to tell.
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
	// Time is when it happened, with the zone of this machine.
	Time time.Time `json:"time"`

	// Release is whose event it is where several are applied, Cluster the name that the
	// set has for its cluster.
	Release *release.Key `json:"release,omitempty"`
	Cluster string       `json:"cluster,omitempty"`

	FormatVersion     string `json:"formatVersion,omitempty"`
	PlanFormatVersion string `json:"planFormatVersion,omitempty"`
	ToolVersion       string `json:"toolVersion,omitempty"`

	// Undoing marks what belongs to the rollback of an atomic run.
	Undoing bool `json:"undoing,omitempty"`

	Stage string `json:"stage,omitempty"`
	// Step is the ID of a step of the plan.
	Step   string       `json:"step,omitempty"`
	Op     plan.Op      `json:"op,omitempty"`
	Object *manifest.ID `json:"object,omitempty"`
	// Message is the state, the error, the log or whatever there is to tell.
	Message string `json:"message,omitempty"`
	// Reasons are what is behind the message: container states, warning events
	// and log lines of pods, oldest first.
	Reasons []string `json:"reasons,omitempty"`
	// ElapsedSeconds is the time since the step has begun.
	ElapsedSeconds *float64 `json:"elapsedSeconds,omitempty"`

	Plan    *plan.Document `json:"plan,omitempty"`
	Summary *RunSummary    `json:"summary,omitempty"`
}

// RunOutcome is what a run has come to.
type RunOutcome string

const (
	RunDone RunOutcome = "done"
	// RunNothing: there was nothing to do.
	RunNothing RunOutcome = "nothing"
	// RunBlocked: the plan has blocking problems; nothing was written.
	RunBlocked RunOutcome = "blocked"
	// RunStale: the plan that was reviewed no longer holds; nothing was written.
	RunStale RunOutcome = "stale"
	// RunLocked: another operation holds the lock; nothing was written.
	RunLocked         RunOutcome = "locked"
	RunCancelled      RunOutcome = "cancelled"
	RunFailed         RunOutcome = "failed"
	RunRolledBack     RunOutcome = "rolledBack"
	RunRollbackFailed RunOutcome = "rollbackFailed"
)

// RunOutcomes are all outcomes.
func RunOutcomes() []RunOutcome {
	return []RunOutcome{
		RunDone, RunNothing, RunBlocked, RunStale, RunLocked, RunCancelled, RunFailed, RunRolledBack, RunRollbackFailed,
	}
}

// RunSummary is what a run has done.
type RunSummary struct {
	Outcome RunOutcome `json:"outcome"`
	// ExitCode is that of the process; of several releases, what it would be for
	// this one.
	ExitCode  int            `json:"exitCode"`
	Operation plan.Operation `json:"operation,omitempty"`
	Release   *release.Key   `json:"release,omitempty"`
	// Revision is the newest revision that the run has written, and Status its
	// status; after a rollback those of the rollback.
	Revision int            `json:"revision,omitempty"`
	Status   release.Status `json:"status,omitempty"`
	// Counts are the steps that ended well, by op, without those of the rollback.
	Counts map[plan.Op]int `json:"counts"`
	// Failed are the IDs of the steps that failed.
	Failed         []string `json:"failed,omitempty"`
	ElapsedSeconds float64  `json:"elapsedSeconds"`
	// Error is what is printed on standard error, Hint what to do about it.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Undo is there when an atomic run failed and was to be undone.
	Undo *UndoSummary `json:"undo,omitempty"`
	// Notes are the chart's, rendered; after installs and upgrades.
	Notes string `json:"notes,omitempty"`
	// Record is the revision in the form of Helm's records, which helm -o json
	// prints, with secrets masked.
	Record any `json:"record,omitempty"`
}

// UndoSummary is what became of the rollback.
type UndoSummary struct {
	// ToRevision is the revision that was to be restored; 0 when a first install
	// was to be uninstalled.
	ToRevision int `json:"toRevision"`
	// Error is why the rollback failed.
	Error string `json:"error,omitempty"`
	// Undone are the changes of the rollback that were made, NotUndone those that
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
