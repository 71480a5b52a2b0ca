package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// A HelmRelease that can't be decoded does not stay ready: it stalls, once, and says why; the rest of
// its status is left alone.
func TestAHelmReleaseThatCannotBeDecoded(t *testing.T) {
	r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, _ reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		return reconcile.Outcome{Status: hr.Status}, nil
	})
	e.change("status", "failures", 3.0)
	e.change("status", "conditions", []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "InstallSucceeded", "lastTransitionTime": "2026-11-26T22:00:00Z"},
		map[string]any{"type": "Reconciling", "status": "True", "reason": "Progressing", "lastTransitionTime": "2026-11-26T22:00:00Z"},
	})
	e.change("metadata", "generation", 2)
	e.change("spec", "timeout", "9999999999h") // the CRD's pattern allows it
	for range 2 {
		if _, err := r.reconcile(t.Context(), web, pauses{}); err == nil || !strings.Contains(err.Error(), "duration") {
			t.Errorf("it ends with %v", err)
		}
	}
	o := &helmRelease{}
	if err := e.read(o); err != nil {
		t.Fatal(err)
	}
	e.content["spec"].(map[string]any)["timeout"] = "1m"
	if err := e.read(o); err != nil {
		t.Fatal(err)
	}
	hr, err := decoded(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Ready False InvalidSpec", "Stalled True InvalidSpec"} {
		kind, _, _ := strings.Cut(want, " ")
		c := flux.Condition(hr.Status.Conditions, kind)
		if c == nil || kind+" "+string(c.Status)+" "+c.Reason != want || !strings.Contains(c.Message, "9999999999h") || c.ObservedGeneration != 2 {
			t.Errorf("%s: %+v", want, c)
		}
	}
	if s := hr.Status; len(s.Conditions) != 2 || s.Failures != 3 || s.ObservedGeneration != 2 || len(r.events.records.queue) != 1 {
		t.Errorf("%d events, %+v", len(r.events.records.queue), s)
	}
}

// Both the interval and the pauses of RetryOnFailure are spread; that before dependencies are looked at
// again is not.
func TestPausesAreSpread(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		r, _ := desk(t, func(_ context.Context, hr *flux.HelmRelease, _ reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
			return reconcile.Outcome{Status: hr.Status, After: time.Hour, Fixed: fixed}, nil
		})
		r.options.JitterPercentage = 5
		seen := map[time.Duration]bool{}
		for range 20 {
			after := passed(t, r).RequeueAfter
			if seen[after] = true; after < 57*time.Minute || after > 63*time.Minute {
				t.Errorf("the pause is %s", after)
			}
		}
		if fixed != (len(seen) == 1) {
			t.Errorf("fixed %t: %d pauses", fixed, len(seen))
		}
	}
}
