package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A hook's step and its wait report under one ID: it is told once that it began
// and once that it ended. States that do not last are not told at all, and what
// is only bookkeeping neither.
func TestProgressTellsOnceWhatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgram(Streams{Err: &out}, "").progress()
		job := manifest.ID{Group: "batch", Kind: "Job", Name: "migrate"}
		see := func(kind apply.EventType, message string) {
			p.Observe(apply.Event{Time: time.Now(), Type: kind, Stage: "x", Step: "hook", Op: plan.OpRun, Object: job, Message: message})
		}
		p.Observe(apply.Event{Type: apply.StageStarted, Stage: "record pending"})
		p.Observe(apply.Event{Type: apply.StageStarted, Stage: "pre-upgrade hooks"})
		see(apply.StepStarted, "")
		see(apply.StepStarted, "")
		see(apply.StepProgress, "not seen yet")
		time.Sleep(100 * time.Millisecond)
		see(apply.StepProgress, "0 of 1 done")
		time.Sleep(2900 * time.Millisecond)
		see(apply.StepProgress, "1 of 1 done")
		see(apply.StepDone, "1 of 1 done")
		see(apply.StepDone, "")
		time.Sleep(time.Minute)
		p.Stop()
		want := "• pre-upgrade hooks\n    Job/migrate: started\n    Job/migrate: 0 of 1 done\n    Job/migrate: done after 3s\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// Records have no object: a line about writing one calls it by its name.
func TestProgressNamesTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgram(Streams{Err: &out}, "").progress()
		see := func(kind apply.EventType, step, message string) {
			p.Observe(apply.Event{Time: time.Now(), Type: kind, Stage: "record", Step: step, Message: message})
		}
		see(apply.StepStarted, "slow", "")
		see(apply.StepStarted, "refused", "")
		time.Sleep(1800 * time.Millisecond)
		see(apply.StepProgress, "refused", "the server is slow")
		time.Sleep(time.Second)
		see(apply.StepDone, "slow", "")
		see(apply.StepFailed, "refused", "the server says no")
		p.Stop()
		want := "    the release's record: the server is slow\n    the release's record: done after 2.8s\n    ✗ the release's record: the server says no\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
