package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// hookPolicies returns a hook's delete and log policies, for the full output.
func hookPolicies(s *plan.Step) string {
	if s.Hook == nil {
		return ""
	}
	words := func(policies []manifest.Policy) string {
		out := make([]string, 0, len(policies))
		for _, p := range policies {
			out = append(out, escape.Line(string(p)))
		}
		return strings.Join(out, ",")
	}
	text := ""
	if p := words(s.Hook.DeletePolicies); p != "" {
		text += "; delete policy " + p
	}
	if p := words(s.Hook.LogPolicies); p != "" {
		text += "; log policy " + p
	}
	return text
}

// roomKey identifies a run of an object of a hook.
type roomKey struct {
	event  manifest.Event
	index  int
	object manifest.ID
}

func roomOf(s *plan.Step) roomKey { return roomKey{s.Hook.Event, s.Hook.Index, s.Object} }

// roomsOf returns the deletions that make room for the runs of hooks.
func roomsOf(p *plan.Document) map[roomKey]*plan.Step {
	rooms := map[roomKey]*plan.Step{}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.MakesRoom() {
			rooms[roomOf(s)] = s
		}
	})
	return rooms
}

// inPlaceOf describes what a hook deletes before its run.
func (w entryWriter) inPlaceOf(room *plan.Step) string {
	switch {
	case room.Hook.WasResource:
		return "the resource it replaces"
	case room.Hook.Foreign:
		return "what is in its place"
	case room.Of != "":
		return "the earlier event's"
	}
	return "the last run's"
}

// hookText returns text such as "run to completion (weight -5), then delete". It includes the
// deletions before and after the run, which are steps of their own.
func (w entryWriter) hookText(s *plan.Step) string {
	text := "create"
	if s.Object.RunsToItsEnd() {
		text = "run to completion"
	}
	if s.Hook == nil {
		return text
	}
	if s.Hook.Weight != 0 {
		text += fmt.Sprintf(" (weight %d)", s.Hook.Weight)
	}
	switch {
	case s.InPlace():
		text = "change in place"
	case s.Before != nil:
		return "leave it as it is"
	}
	if room := w.rooms[roomOf(s)]; room != nil {
		text = "delete " + w.inPlaceOf(room) + ", then " + text
	}
	if s.Hook.Since == plan.HookNew {
		text = "new: " + text
	}
	succeeded, failed := s.Hook.Deletes(manifest.HookSucceeded), s.Hook.Deletes(manifest.HookFailed)
	switch {
	case s.Object.IsCRD(): // hooks never delete CRDs
	case succeeded && failed:
		return text + ", then delete"
	case succeeded:
		return text + ", then delete unless it failed"
	case failed:
		return text + ", delete only if it failed"
	}
	return text + ", keep"
}
