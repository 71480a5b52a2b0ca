package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// flights are passes that go on without a worker: one that waits for a hook, or until what it
// has sent is ready, gives its worker back, and its end puts its HelmRelease into the queue
// again. What changes meanwhile is looked at once everything is sent, and ends the wait when
// the plan would be another one: no hook is broken off.
type flights struct {
	inner *reconciler
	// ended gets the HelmReleases whose pass has ended without a worker, or waits and has to be
	// looked at.
	ended chan event.TypedGenericEvent[client.Object]

	mu      sync.Mutex
	running map[client.ObjectKey]*flight
	all     sync.WaitGroup
}

// flight is one pass.
type flight struct {
	cancel context.CancelCauseFunc
	// left is closed once the pass needs no worker, done at its end.
	left, done chan struct{}
	result     ctrl.Result
	err        error
	// waits says that the pass has sent everything.
	waits bool
	// asked is what the HelmRelease asked for when it was last looked at; stale says that this
	// has changed since the pass began, unjudged that nobody has asked yet what that means.
	asked           mark
	stale, unjudged bool
}

func newFlights(inner *reconciler) *flights {
	return &flights{inner: inner, ended: make(chan event.TypedGenericEvent[client.Object], maxEnded), running: map[client.ObjectKey]*flight{}}
}

// maxEnded is how many ends may wait for the queue.
const maxEnded = 1024

// Reconcile implements controller-runtime's reconciler.
func (f *flights) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	key := request.NamespacedName
	f.mu.Lock()
	running := f.running[key]
	f.mu.Unlock()
	if running == nil {
		running = f.begin(ctx, request)
		select {
		case <-running.done:
		case <-running.left:
		}
	} else if !running.over() {
		f.look(ctx, key, running)
	}
	if !running.over() {
		return ctrl.Result{}, nil
	}
	again := f.again(ctx, key, running)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, key)
	if broken, ok := errors.AsType[*reconcile.PanicError](running.err); ok {
		f.inner.events.log.Error(broken, "a pass has panicked", "namespace", key.Namespace, "name", key.Name, "stack", broken.Stack)
		panic(broken.What) //nolint:forbidigo // controller-runtime recovers from it, and counts it
	}
	if next := running.result.RequeueAfter; again > 0 && running.err == nil && (next == 0 || next > again) {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	return running.result, running.err
}

// again is how soon a pass has to be made behind one that has gone on without a worker, 0 where nobody
// asks for it: what did so before its end came to the queue was one request with that.
func (f *flights) again(ctx context.Context, key client.ObjectKey, ended *flight) time.Duration {
	select {
	case <-ended.left:
	default:
		return 0
	}
	asked := f.askedOf(ctx, key)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case ended.stale || asked != ended.asked:
		return 1
	case f.inner.drift.waits(key):
		return driftPause
	}
	return 0
}

func (r *flight) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// begin starts a pass.
func (f *flights) begin(ctx context.Context, request ctrl.Request) *flight {
	process := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	out := &flight{cancel: cancel, left: make(chan struct{}), done: make(chan struct{}), asked: f.askedOf(ctx, request.NamespacedName)}
	f.mu.Lock()
	f.running[request.NamespacedName] = out
	f.mu.Unlock()
	f.all.Go(func() {
		defer cancel(nil)
		gone := sync.OnceFunc(func() { close(out.left) })
		leave := func() {
			f.inner.memory.rest(request.NamespacedName)
			gone()
		}
		on := pauses{hook: leave, waiting: func() {
			f.mu.Lock()
			out.waits = true
			unjudged := out.unjudged
			f.mu.Unlock()
			if leave(); unjudged {
				f.enqueue(process, request.NamespacedName)
			}
		}}
		out.result, out.err = f.guarded(context.WithValue(ctx, pausesKey{}, on), request)
		close(out.done)
		select {
		case <-out.left: // nobody waits for it
			f.enqueue(process, request.NamespacedName)
		default:
		}
	})
	return out
}

// guarded is a pass of which a panic is an error: in a goroutine of its own it would end the
// process, and so the passes of all.
func (f *flights) guarded(ctx context.Context, request ctrl.Request) (_ ctrl.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = reconcile.Panicked(v)
		}
	}()
	return f.inner.Reconcile(ctx, request)
}

// enqueue has a worker look at the HelmRelease.
func (f *flights) enqueue(process context.Context, key client.ObjectKey) {
	o := &helmRelease{}
	o.Namespace, o.Name = key.Namespace, key.Name
	select {
	case f.ended <- event.TypedGenericEvent[client.Object]{Object: o}:
	case <-process.Done():
	}
}

// look ends a pass that waits for what its HelmRelease does not ask for any more.
func (f *flights) look(ctx context.Context, key client.ObjectKey, running *flight) {
	asked := f.askedOf(ctx, key)
	f.mu.Lock()
	if asked != running.asked {
		running.asked, running.stale, running.unjudged = asked, true, true
	}
	judge := running.unjudged && running.waits
	running.unjudged = running.unjudged && !judge
	f.mu.Unlock()
	if !judge {
		return
	}
	if differs, err := f.inner.supersedes(ctx, key); err == nil && differs {
		running.cancel(reconcile.ErrSuperseded)
	}
}

// askedOf is what the HelmRelease asks for: its generation, annotations that ask for a pass, whether it is
// deleted, and what it depends on.
func (f *flights) askedOf(ctx context.Context, key client.ObjectKey) mark {
	o := &helmRelease{}
	if err := f.inner.client.Get(ctx, key, o); err != nil {
		return mark{}
	}
	hr, err := decoded(o)
	if err != nil {
		return mark{}
	}
	annotations := map[string]string{}
	for _, name := range asking {
		annotations[name] = hr.Metadata.Annotations[name]
	}
	hr.Status, hr.Metadata.Annotations, hr.Metadata.Finalizers = flux.HelmReleaseStatus{}, annotations, nil
	return mark{content: contentOf(hr), around: f.inner.around(ctx, hr)}
}

// supersedes asks whether the HelmRelease would have something else made by now.
func (r *reconciler) supersedes(ctx context.Context, key client.ObjectKey) (bool, error) {
	v := &view{object: &helmRelease{}}
	v.object.Namespace, v.object.Name = key.Namespace, key.Name
	if err := r.refresh(ctx, v); err != nil {
		return false, err
	}
	hr := v.hr
	in, release := reconcile.Sources{}, func() {}
	if hr.Metadata.DeletionTimestamp == nil && !hr.Spec.Suspend && (hr.Spec.Chart == nil) != (hr.Spec.ChartRef == nil) {
		r.sources(ctx, v, &in)
	}
	in.Chart = r.loader(key, &in, &release)
	defer func() { release() }()
	return r.passes.Supersedes(ctx, hr, in)
}

// Start waits at the end of the process until all passes have ended.
func (f *flights) Start(ctx context.Context) error {
	<-ctx.Done()
	f.all.Wait()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: it is as for workers, since those
// that need no leader are told to end, and waited for, before the others are told: Start would
// wait for passes that nobody has told.
func (f *flights) NeedLeaderElection() bool { return !f.inner.options.AutomaticShards }

// pauses are what a pass calls when it begins with a hook, and when it waits.
type pauses struct{ hook, waiting func() }

// pausesKey is their key in a context.
type pausesKey struct{}

func pausesOf(ctx context.Context) pauses {
	on, _ := ctx.Value(pausesKey{}).(pauses)
	return on
}
