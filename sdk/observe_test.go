package sdk

import (
	"io"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Events say which release they are about, and whether the run is being undone: a client applies several
// plans at once, and a rollback has steps with the same IDs.
func TestEventsSayWhoseTheyAre(t *testing.T) {
	var events []Event
	client, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{Observe: func(e Event) { events = append(events, e) }})
	fine(t, err)
	for _, name := range []string{"web", "db"} {
		observer := client.observer(&Plan{plan: &plan.Plan{Document: plan.Document{Release: release.Key{Namespace: "shop", Name: name}}}})
		for _, kind := range []apply.EventType{apply.StepFailed, apply.RollbackStarted, apply.StepStarted} {
			observer.Observe(apply.Event{Type: kind, Step: "x", Cause: io.EOF})
		}
	}
	for i, e := range events {
		if want := (Release{"shop", []string{"web", "db"}[i/3]}); e.Release != want || e.Undoing != (i%3 > 0) {
			t.Errorf("%d: %+v", i, e)
		}
	}
	if len(events) != 6 {
		t.Errorf("%+v", events)
	}
}
