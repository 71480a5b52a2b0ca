package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// A request for a pass while one goes on without a worker is not forgotten, although the queue merges
// it with the request at the end of that pass.
func TestAsksDuringAPassWithoutAWorker(t *testing.T) {
	for name, test := range map[string]struct {
		asks func(*reconciler, *etcd)
		want time.Duration
	}{
		"nothing":      {func(*reconciler, *etcd) {}, time.Hour},
		"drift":        {func(r *reconciler, _ *etcd) { r.drift.ask(web.NamespacedName) }, driftPause},
		"a generation": {func(_ *reconciler, e *etcd) { e.change("metadata", "generation", 2) }, 1},
		"an annotation": {func(_ *reconciler, e *etcd) {
			e.change("metadata", "annotations", map[string]any{flux.AnnotationRequestedAt: "1"})
		}, 1},
		"another one": {func(_ *reconciler, e *etcd) { e.change("metadata", "annotations", map[string]any{"note": "1"}) }, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			end := make(chan struct{})
			r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, in reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
				in.Hook()
				<-end
				return reconcile.Outcome{Status: hr.Status, After: time.Hour}, nil
			})
			r.drift.wanted, r.drift.changed = func(client.ObjectKey, time.Time) bool { return true }, make(chan event.GenericEvent, 1)
			r.drift.ask(web.NamespacedName) // before the pass, which takes it into account
			request := func() time.Duration {
				result, err := r.detached.Reconcile(t.Context(), web)
				if err != nil {
					t.Error(err)
				}
				return result.RequeueAfter
			}
			if again := request(); again != 0 {
				t.Errorf("it has no worker, and is tried again in %s", again)
			}
			test.asks(r, e)
			close(end)
			<-r.detached.ended
			if again := request(); again != test.want {
				t.Errorf("the next pass is made in %s, want %s", again, test.want)
			}
		})
	}
}

// A pass without a worker that ends with an error is followed by another one at once, not after the
// pause between errors, if the HelmRelease has changed in the meantime: the change may be the remedy.
func TestAnErrorDoesNotDelayAChange(t *testing.T) {
	end := make(chan struct{})
	r, e := desk(t, func(_ context.Context, hr *flux.HelmRelease, in reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		in.Hook()
		<-end
		return reconcile.Outcome{Status: hr.Status}, errors.New("it fails")
	})
	if _, err := r.detached.Reconcile(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	e.change("metadata", "generation", 2)
	close(end)
	<-r.detached.ended
	if _, err := r.detached.Reconcile(t.Context(), web); err == nil {
		t.Error("the error is not reported")
	}
	if len(r.detached.ended) != 1 {
		t.Error("no other pass is requested")
	}
}
