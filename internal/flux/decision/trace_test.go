package decision_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
)

// actions maps helm-controller's words in the condition Reconciling to actions.
var actions = map[string]decision.Action{
	"install": decision.Install, "upgrade": decision.Upgrade, "test": decision.Test,
	"rollback": decision.RollBack, "uninstall": decision.Uninstall, "unlock": decision.Unlock,
	"correct cluster drift": decision.CorrectDrift,
}

// Each action that a trace shows is the one that the state before it asks for: the
// first of a step, by the status that the previous step left behind; the next ones, by
// the status that was written meanwhile. At the end of a step nothing is left to do, or
// the obstacle is the reason that the status gives.
func TestDecisionsAgreeWithTheTraces(t *testing.T) {
	decided := 0
	for _, trace := range fluxtest.Traces(t) {
		for i, step := range trace.Steps {
			if step.HelmRelease == nil || step.Answer != "" {
				continue
			}
			var before *fluxtest.Step
			if i > 0 {
				before = trace.Steps[i-1]
			}
			s := newSimulation(before, step)
			for _, write := range step.Writes {
				if shown := fluxtest.Running(write); shown != "" {
					got := s.next()
					if got.Action == decision.Uninstall && got.Reason == "TargetChanged" {
						t.Errorf("%s: %s begins while the old release is to be uninstalled", step.Name, shown)
					}
					if decided++; got.Action != actions[shown] {
						t.Errorf("%s: %+v, want %s", step.Name, got, shown)
					}
					s.attempted()
				} else if text, _ := write["condition Released"].(string); strings.HasPrefix(text, "False UninstallSucceeded") {
					if got := s.next(); got.Reason != "TargetChanged" {
						t.Errorf("%s: %+v, want the uninstall of a move", step.Name, got)
					}
					decided++
				}
				s.apply(write)
			}
			if len(step.Writes) > 0 {
				s.end(t)
				decided++
			}
		}
	}
	t.Logf("%d decisions", decided)
}

// A deleted HelmRelease is uninstalled, unless it is suspended.
func TestDeletionsAgreeWithTheTraces(t *testing.T) {
	for _, trace := range fluxtest.Traces(t) {
		for i, step := range trace.Steps {
			if step.HelmRelease != nil || i == 0 || trace.Steps[i-1].HelmRelease == nil {
				continue
			}
			hr := *trace.Steps[i-1].HelmRelease
			hr.Metadata.DeletionTimestamp = &hr.Status.History[0].LastDeployed
			want := decision.Nothing
			if len(step.Records) < len(trace.Steps[i-1].Records) {
				want = decision.Uninstall
			}
			if got := decision.Next(decision.Input{HelmRelease: &hr}); got.Action != want {
				t.Errorf("%s: %+v, want %s", step.Name, got, want)
			}
		}
	}
}

// end compares what is decided at the end of a step with the conditions that are left.
func (s *simulation) end(t *testing.T) {
	t.Helper()
	hr := s.step.HelmRelease
	s.hr.Status = hr.Status
	s.records = s.step.Records
	s.input.Drift = drift(hr)
	got := s.next()
	reasons := map[string]string{}
	for _, c := range hr.Status.Conditions {
		reasons[c.Type] = string(c.Status) + " " + c.Reason
	}
	stalled, isStalled := strings.CutPrefix(reasons["Stalled"], "True ")
	ready, notReady := strings.CutPrefix(reasons["Ready"], "False ")
	switch {
	case hr.Spec.Suspend:
		want(t, s.step, got, decision.Nothing, "Suspended")
	case reasons["Remediated"] == "False RollbackFailed":
		// Stalled with a remediation that failed: the next pass tries it again.
		want(t, s.step, got, decision.RollBack, "Remediation")
	case isStalled:
		want(t, s.step, got, decision.Stall, stalled)
	case notReady && (ready == "DependencyNotReady" || ready == "SourceNotReady"):
		want(t, s.step, got, decision.Wait, ready)
	case notReady && (ready == "ValuesError" || ready == "ArtifactFailed" || ready == "ChartMutateError" || ready == "RESTClientError" || ready == "StateError"):
		want(t, s.step, got, decision.Fail, ready)
	case s.step.Settled && reasons["Ready"] != "" && !notReady && !preserves(s) && reasons["Reconciling"] == "":
		if got.Action != decision.Nothing {
			t.Errorf("%s: at the end %+v, want nothing", s.step.Name, got)
		}
	}
}

// drift returns what was found, according to the HelmRelease's status.
func drift(hr *flux.HelmRelease) decision.Drift {
	ready := flux.Condition(hr.Status.Conditions, "Ready")
	switch drifted := flux.ConditionTrue(hr.Status.Conditions, "Drifted"); {
	case ready != nil && ready.Reason == "StateError":
		return decision.DriftUnknown
	case drifted:
		return decision.DriftFound
	}
	return decision.DriftNone
}

func preserves(s *simulation) bool {
	return s.hr.Spec.Upgrade != nil && s.hr.Spec.Upgrade.PreserveValues
}

func want(t *testing.T, step *fluxtest.Step, got decision.Decision, action decision.Action, reason string) {
	t.Helper()
	if got.Action != action || got.Reason != reason {
		t.Errorf("%s: at the end %+v, want %s (%s)", step.Name, got, action, reason)
	}
}

var (
	edited  = regexp.MustCompile(`Secret sh\.helm\.release\.v1\.(.+)\.v(\d+) is decoded, changed and stored again: (.*)`)
	deleted = regexp.MustCompile(`kubectl -n \S+ delete secret sh\.helm\.release\.v1\.(.+)\.v(\d+)`)
	removed = regexp.MustCompile(`^# helm4 uninstall (\S+)`)
)

// byHand does to the records what a step's lines say was done.
func byHand(records []fluxtest.Record, applied string) []fluxtest.Record {
	for line := range strings.Lines(applied) {
		if m := removed.FindStringSubmatch(line); m != nil {
			return nil
		}
		if m := deleted.FindStringSubmatch(line); m != nil {
			records = slices.DeleteFunc(slices.Clone(records), func(r fluxtest.Record) bool { return named(r, m) })
		}
		if m := edited.FindStringSubmatch(line); m != nil {
			records = slices.Clone(records)
			for i, r := range records {
				if named(r, m) {
					records[i].Revision = edit(r, m[3])
				}
			}
		}
	}
	return records
}

func named(r fluxtest.Record, m []string) bool {
	return r.Name == m[1] && strconv.Itoa(r.Version) == m[2]
}

var errTrace = errors.New("as the trace says")

var snapshotLine = regexp.MustCompile(`^(\S+)/(\S+) v(\d+) (\S+) (\S+) (\S+) ([0-9a-f]+)(?: tests (.*))?$`)

func number(v any) int64 {
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
