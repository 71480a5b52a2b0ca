package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

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

// The pause after an error grows with each error in a row, also of passes that continue without a
// worker, and starts over after a pass without one.
func TestPausesAfterErrorsOfPassesWithoutAWorkerGrow(t *testing.T) {
	end, failed := make(chan error), errors.New("it fails")
	r, _ := desk(t, func(_ context.Context, hr *flux.HelmRelease, in reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		in.Hook()
		return reconcile.Outcome{Status: hr.Status}, <-end
	})
	pauses := errorPauses{workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Second, time.Minute), r.detached}
	again := func() error { // as controller-runtime does, which forgets errors after a call without one
		_, err := r.detached.Reconcile(t.Context(), web)
		if err == nil {
			pauses.Forget(web)
		}
		return err
	}
	for _, pass := range []struct {
		err  error
		want time.Duration
	}{{failed, time.Second}, {failed, 2 * time.Second}, {failed, 4 * time.Second}, {nil, time.Second}, {failed, 2 * time.Second}} {
		if err := again(); err != nil {
			t.Fatal(err)
		}
		end <- pass.err
		<-r.detached.ended
		if err := again(); !errors.Is(err, pass.err) {
			t.Fatal(err)
		}
		if got := pauses.When(web); got != pass.want {
			t.Errorf("the pause is %s, want %s", got, pass.want)
		}
	}
}

// judging answers whether a pass is superseded.
type judging struct {
	passing
	supersedes func() (bool, error)
}

func (j judging) Supersedes(context.Context, *flux.HelmRelease, reconcile.Sources) (bool, error) {
	return j.supersedes()
}

// waitingUntil returns a pass that only waits, until end is closed, and stores its context in ctx.
func waitingUntil(end <-chan struct{}, ctx *context.Context) passing {
	return func(of context.Context, hr *flux.HelmRelease, in reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
		*ctx = of
		in.Waiting()
		<-end
		return reconcile.Outcome{Status: hr.Status}, nil
	}
}

// A change ends a pass only while it waits: hooks, tests among them, are never interrupted, nor is a
// rollback that is being sent after a wait.
func TestAChangeEndsOnlyAWait(t *testing.T) {
	for name, test := range map[string]struct {
		before, meanwhile func(reconcile.Sources)
		want              error
	}{
		"a wait":          {before: func(in reconcile.Sources) { in.Waiting() }, want: reconcile.ErrSuperseded},
		"a hook first":    {before: func(in reconcile.Sources) { in.Hook(); in.Waited(); in.Waiting() }, want: reconcile.ErrSuperseded},
		"a hook after it": {before: func(in reconcile.Sources) { in.Waiting(); in.Waited(); in.Hook() }},
		"one that is over once the change is judged": {
			before: func(in reconcile.Sources) { in.Waiting() }, meanwhile: func(in reconcile.Sources) { in.Waited() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			var in reconcile.Sources
			var ctx context.Context
			begun, end := make(chan struct{}), make(chan struct{})
			r, e := desk(t, nil)
			r.passes = judging{func(of context.Context, hr *flux.HelmRelease, with reconcile.Sources, _ reconcile.Report) (reconcile.Outcome, error) {
				ctx, in = of, with
				test.before(in)
				close(begun)
				<-end
				return reconcile.Outcome{Status: hr.Status, After: time.Hour}, nil
			}, func() (bool, error) {
				if test.meanwhile != nil {
					test.meanwhile(in)
				}
				return true, nil
			}}
			request := func() {
				if _, err := r.detached.Reconcile(t.Context(), web); err != nil {
					t.Error(err)
				}
			}
			request()
			<-begun
			e.change("metadata", "generation", 2)
			request()
			if got := context.Cause(ctx); !errors.Is(got, test.want) || (got == nil) != (test.want == nil) {
				t.Errorf("the pass ends with %v, want %v", got, test.want)
			}
			if test.want == nil {
				if in.Waiting(); len(r.detached.ended) != 1 {
					t.Error("nobody looks at the change once the pass waits again")
				}
			}
			close(end)
			r.detached.all.Wait()
		})
	}
}

// A plan that is held does not end the wait, but an event says once what it waits for: the status still is that of
// what is under way.
func TestAHeldPlanIsToldDuringAWait(t *testing.T) {
	var ctx context.Context
	end, judged := make(chan struct{}), 0
	r, e := desk(t, nil)
	r.passes = judging{waitingUntil(end, &ctx), func() (bool, error) {
		judged++
		return false, fmt.Errorf("masked: %w", &reconcile.Held{Denied: judged > 1, Message: "the plan waits"})
	}}
	for n, want := range []string{"", "Normal ApprovalRequired", "Warning PlanDenied"} {
		if n > 0 {
			e.change("metadata", "generation", n+1)
		}
		for range 2 {
			if _, err := r.detached.Reconcile(t.Context(), web); err != nil {
				t.Error(err)
			}
		}
		got := ""
		for len(r.events.records.queue) > 0 {
			told := <-r.events.records.queue
			got += told.Type + " " + told.Reason
			if told.Message != "the plan waits" {
				t.Errorf("it says %q", told.Message)
			}
		}
		if got != want || judged != n || ctx.Err() != nil {
			t.Errorf("generation %d: %q is told, %d judged, the pass ends with %v", n+1, got, judged, context.Cause(ctx))
		}
	}
	close(end)
	r.detached.all.Wait()
}

// A change that can't be judged at first, because the API server does not answer, is judged again.
func TestAChangeIsJudgedAgainAfterAnError(t *testing.T) {
	var ctx context.Context
	end, tries := make(chan struct{}), 0
	r, e := desk(t, nil)
	r.passes = judging{waitingUntil(end, &ctx), func() (bool, error) {
		if tries++; tries == 1 {
			return false, errors.New("etcdserver: leader changed")
		}
		return true, nil
	}}
	if _, err := r.detached.Reconcile(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	e.change("metadata", "generation", 2)
	if _, err := r.detached.Reconcile(t.Context(), web); err == nil || ctx.Err() != nil {
		t.Errorf("%v, the pass ends with %v", err, context.Cause(ctx))
	}
	if _, err := r.detached.Reconcile(t.Context(), web); err != nil || !errors.Is(context.Cause(ctx), reconcile.ErrSuperseded) {
		t.Errorf("%v, the pass ends with %v", err, context.Cause(ctx))
	}
	close(end)
	r.detached.all.Wait()
}
