package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// A run ends when it supersedes the revision before it; a failed one, when its failure was
// recorded. A later write, by a run of tests, say, is not an end, and what is not known is
// left out.
func TestLastRuns(t *testing.T) {
	at := func(minute, second int) time.Time { return time.Date(2026, 11, 20, 10, minute, second, 0, time.UTC) }
	revision := func(version int, status Status, began, modified time.Time) *Revision {
		return &Revision{Version: version, Info: Info{Status: status, LastDeployed: began}, Modified: modified}
	}
	h := History{
		revision(1, StatusSuperseded, at(0, 0), at(10, 41)),                           // when 2 was done; its own end is not known
		revision(2, StatusSuperseded, at(10, 0).Add(300*time.Millisecond), at(30, 5)), // when 4 was done
		revision(3, StatusFailed, at(20, 0), at(22, 0)),
		revision(4, StatusDeployed, at(30, 0), at(50, 0)), // tests ran at 50
		revision(5, StatusPendingUpgrade, at(40, 0), at(40, 1)),
	}
	want := []Run{{Revision: 4, Took: 5 * time.Second}, {Revision: 3, Took: 2 * time.Minute, Failed: true}, {Revision: 2, Took: 41 * time.Second}}
	if diff := cmp.Diff(want, h.LastRuns(3)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:1], h.LastRuns(1)); diff != "" {
		t.Error(diff)
	}
}

// A hook's runs are those that have ended, of the hook of the same kind and name.
func TestRunsOf(t *testing.T) {
	began := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	hook := func(name string, took time.Duration, phase Phase) Hook {
		return Hook{Hook: manifest.Hook{Kind: "Job", Name: name}, LastRun: Execution{StartedAt: began, CompletedAt: began.Add(took), Phase: phase}}
	}
	h := History{
		{Version: 1, Hooks: []Hook{hook("migrate", 12*time.Second, PhaseSucceeded), hook("other", time.Hour, PhaseSucceeded)}},
		{Version: 2, Hooks: []Hook{hook("migrate", 3*time.Second, PhaseFailed)}},
		{Version: 3, Hooks: []Hook{hook("migrate", -time.Second, PhaseRunning)}},
	}
	want := []Run{{Revision: 2, Took: 3 * time.Second, Failed: true}, {Revision: 1, Took: 12 * time.Second}}
	if diff := cmp.Diff(want, h.RunsOf(manifest.Hook{Kind: "Job", Name: "migrate"}, 3)); diff != "" {
		t.Error(diff)
	}
}
