package progress

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// On a terminal the objects in progress are shown with state and age, the oldest first,
// below how many of all are done; short steps are not shown, and states do not scroll by.
func TestProgressOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := terminal.NewRegion(&out, func() (int, int) { return 80, 24 })
		p := printer(r, r)
		printed := func() string {
			synctest.Wait()
			p.mu.Lock() // whoever prints holds it
			defer p.mu.Unlock()
			defer out.Reset()
			return out.String()
		}
		see := func(kind apply.EventType, name, message string) {
			id := manifest.ID{Group: "apps", Kind: "Deployment", Name: name}
			p.Observe(apply.Event{Time: time.Now(), Type: kind, Stage: "wait", Step: name, Object: id, Message: message})
		}
		p.Observe(apply.Event{Type: apply.StageStarted, Stage: "wait", Steps: 115})
		see(apply.StepStarted, "web", "")
		see(apply.StepStarted, "quick", "")
		see(apply.StepProgress, "web", "0 of 2 are ready")
		time.Sleep(100 * time.Millisecond)
		see(apply.StepDone, "quick", "ready")
		see(apply.StepStarted, "db", "")
		time.Sleep(2500 * time.Millisecond)
		see(apply.StepProgress, "web", "1 of 2 are ready")
		time.Sleep(500 * time.Millisecond)
		printed() // what came before
		time.Sleep(redrawing)
		if diff := cmp.Diff("\x1b[3A\r\x1b[J    1/115\n    Deployment/web: 1 of 2 are ready, 3s\n    Deployment/db: under way, 3s\n", printed()); diff != "" {
			t.Errorf("while it waits (-want +got):\n%s", diff)
		}
		reason := []apply.Reason{{Cause: "ImagePullBackOff"}}
		p.Observe(apply.Event{Type: apply.StepProgress, Step: "web", Message: "1 of 2 are ready", Diagnosis: apply.Diagnosis{Reasons: reason}})
		time.Sleep(redrawing)
		if got := printed(); !strings.Contains(got, "; ImagePullBackOff") {
			t.Errorf("a reason is missing: %q", got)
		}
		see(apply.StepProgress, "web", "2 of 2 are ready")
		time.Sleep(redrawing)
		if got := printed(); !strings.Contains(got, "2 of 2 are ready") || strings.Contains(got, "; ImagePullBackOff") {
			t.Errorf("the reason for an earlier state stays: %q", got)
		}
		see(apply.StepStarted, "x\x1b[2J\ny", "")
		time.Sleep(2500 * time.Millisecond)
		if got := printed(); !strings.Contains(got, `Deployment/x\x1b[2J`) || strings.Contains(got, "\x1b[2J") {
			t.Errorf("a name controls the terminal: %q", got)
		}
		see(apply.StepFailed, "web", "it never will be")
		p.Stop()
		time.Sleep(time.Minute)
		got := printed()
		if !strings.HasPrefix(got, "\x1b[4A\r\x1b[J    ✗ Deployment/web: it never will be\n") || !strings.HasSuffix(got, "\x1b[J") {
			t.Errorf("in the end: %q", got)
		}
	})
}

// A rollback reports why it begins, once, and at the end what it has undone.
func TestProgressTellsOfAWayBack(t *testing.T) {
	var out bytes.Buffer
	p := printer(&out, nil)
	web := manifest.ID{Group: "apps", Kind: "Deployment", Name: "web"}
	back := wayBackPlan(web, manifest.ID{Kind: "Service", Name: "web"})
	late := &apply.NotReadyError{
		Object: "Deployment/web", Why: "1 of 2 are ready (gave up)",
		Diagnosis: apply.Diagnosis{Reasons: []apply.Reason{{Cause: "it crashes"}}, Log: apply.Log{Of: "Pod/web-1", Lines: []string{"oops"}}},
	}
	for _, e := range []apply.Event{
		{Type: apply.StageStarted, Stage: "wait"},
		{Type: apply.StepStarted, Step: "wait/web", Object: web},
		{Type: apply.StepFailed, Step: "wait/web", Object: web, Message: late.Why, Cause: late},
		{Type: apply.RollbackStarted, Cause: errors.Join(late), Next: "rolling back to revision 1", Plan: back},
		{Type: apply.StepStarted, Step: "Deployment/web", Object: web},
		{Type: apply.StepDone, Step: "Deployment/web", Object: web},
	} {
		p.Observe(e)
	}
	p.Stop()
	want := "• wait\n    ✗ Deployment/web: 1 of 2 are ready (gave up)\n      it crashes\n      | log of Pod/web-1:\n      | oops\n" +
		"• rolling back to revision 1: change 2\n• undone: Deployment/web\n✗ not undone: Service/web\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func wayBackPlan(changed ...manifest.ID) *plan.Plan {
	var wave plan.Wave
	for _, id := range changed {
		wave.Steps = append(wave.Steps, plan.Step{ID: id.String(), Op: plan.OpPatch, Object: id})
	}
	return &plan.Plan{Document: plan.Document{
		Stages:  []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{wave}}},
		Summary: plan.Summary{Patch: len(changed)},
	}}
}
