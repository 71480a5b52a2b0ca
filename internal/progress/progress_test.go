package progress

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// printer returns a printer for a run that has no secrets.
func printer(to io.Writer, region *terminal.Region) *Printer {
	return New(Output{
		To: terminal.Clean(to), Region: region,
		Mask: func(text string) string { return text }, Hide: func(*plan.Plan) {},
	})
}

// A hook's step and its wait report under one ID: its beginning and its end are each
// reported once. States that do not last are not reported at all, and neither is mere bookkeeping.
func TestProgressTellsOnceWhatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := printer(&out, nil)
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
		p := printer(&out, nil)
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

// A write that is tried again says why, and again only when that has changed.
func TestProgressTellsOnceWhyItIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := printer(&out, nil)
		see := func(kind apply.EventType, message string) {
			p.Observe(apply.Event{Time: time.Now(), Type: kind, Step: "web", Object: manifest.ID{Kind: "Service", Name: "web"}, Message: message})
		}
		see(apply.StepStarted, "")
		for _, why := range []string{"the webhook is away", "the webhook is away", "connection refused", "the webhook is away"} {
			see(apply.StepRetried, why)
		}
		p.Stop()
		want := "    Service/web: trying again: the webhook is away\n    Service/web: trying again: connection refused\n    Service/web: trying again: the webhook is away\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// Objects that one cause holds up are reported together, as soon as it is known.
func TestProgressTellsACauseOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := printer(&out, nil)
		object := func(name string) manifest.ID { return manifest.ID{Group: "apps", Kind: "Deployment", Name: name} }
		see := func(kind apply.EventType, name, message string, diagnosis apply.Diagnosis) {
			p.Observe(apply.Event{Time: time.Now(), Type: kind, Stage: "wait", Step: name, Op: plan.OpWait, Object: object(name), Message: message, Diagnosis: diagnosis})
		}
		stuck := func(pod string) apply.Diagnosis {
			return apply.Diagnosis{Reasons: []apply.Reason{{Of: []string{"Pod/" + pod}, Cause: "FailedScheduling: 0/3 nodes", Trouble: true}}}
		}
		p.Observe(apply.Event{Time: time.Now(), Type: apply.StageStarted, Stage: "wait", Steps: 3})
		for _, name := range []string{"a", "b", "c"} {
			see(apply.StepStarted, name, "", apply.Diagnosis{})
		}
		see(apply.StepProgress, "a", "0 of 1 replicas are ready", stuck("a-1"))
		see(apply.StepProgress, "c", "0 of 1 replicas are ready", stuck("c-1"))
		time.Sleep(time.Second)
		see(apply.StepProgress, "b", "0 of 2 replicas are ready", apply.Diagnosis{
			Reasons: []apply.Reason{{Of: []string{"Pod/b-1"}, Cause: "CrashLoopBackOff", Restarts: 2}}, Log: apply.Log{Of: "Pod/b-1", Lines: []string{"oops"}},
		})
		for _, name := range []string{"a", "b", "c"} {
			see(apply.StepDone, name, "", apply.Diagnosis{})
		}
		p.Observe(apply.Event{Time: time.Now(), Type: apply.StageStarted, Stage: "record"})
		p.Stop()
		want := "• wait\n    not ready: Deployment/a, Deployment/c\n      2 pods: FailedScheduling: 0/3 nodes\n" +
			"    Deployment/b: 0 of 2 replicas are ready\n      Pod/b-1: CrashLoopBackOff after 2 restarts\n      | log of Pod/b-1:\n      | oops\n" +
			"    Deployment/a: done after 1s\n    Deployment/b: done after 1s\n    Deployment/c: done after 1s\n    3 done in 1s\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
