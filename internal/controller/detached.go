package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// detached lets passes continue without a worker: a pass that waits for a hook, or until what it has
// applied is ready, gives its worker back, and its HelmRelease is enqueued again when it ends.
// Changes to the HelmRelease in the meantime are looked at once everything has been applied, and
// end the wait if the plan would now be different; hooks are never interrupted.
type detached struct {
	inner *reconciler
	// ended receives the HelmReleases whose pass ended without a worker, or is waiting and must be
	// looked at.
	ended chan event.TypedGenericEvent[client.Object]

	mu      sync.Mutex
	running map[client.ObjectKey]*detachedPass
	all     sync.WaitGroup
}

// detachedPass is one pass, with a worker or without.
type detachedPass struct {
	cancel context.CancelCauseFunc
	// left is closed once the pass no longer needs a worker, done when it ends.
	left, done chan struct{}
	result     ctrl.Result
	err        error
	// waits is set while the pass has applied everything and only waits.
	waits bool
	// asked is what the HelmRelease asked for when it was last looked at. stale is set if this has
	// changed since the pass began, unjudged if nobody has checked yet whether that changes the
	// plan.
	asked           stateDigest
	stale, unjudged bool
}

func newDetached(inner *reconciler) *detached {
	return &detached{inner: inner, ended: make(chan event.TypedGenericEvent[client.Object], maxEnded), running: map[client.ObjectKey]*detachedPass{}}
}

// maxEnded is how many HelmReleases may wait in ended.
const maxEnded = 1024

// Reconcile implements controller-runtime's reconciler.
func (f *detached) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	key := request.NamespacedName
	f.mu.Lock()
	running := f.running[key]
	f.mu.Unlock()
	var unjudged error
	if running == nil {
		running = f.begin(ctx, request)
		select {
		case <-running.done:
		case <-running.left:
		}
	} else if !running.over() {
		unjudged = f.look(ctx, key, running)
	}
	if !running.over() {
		return ctrl.Result{}, unjudged
	}
	again := f.again(ctx, key, running)
	if again > 0 && running.err != nil { // what has changed need not wait for the pause after the error
		f.enqueue(ctx, key)
	}
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

// again returns how soon another pass must follow one that continued without a worker, or 0 if none
// is requested. It has to look, because the queue merges requests made before the end of that pass
// with the one that reports the end.
func (f *detached) again(ctx context.Context, key client.ObjectKey, ended *detachedPass) time.Duration {
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
	case f.inner.drift.passRequested(key):
		return driftPause
	}
	return 0
}

// errorPauses are the pauses after errors in a row. A call of Reconcile that leaves a pass without a
// worker has no error, upon which controller-runtime forgets the earlier ones (0.25.2,
// pkg/internal/controller/controller.go, reconcileHandler): only the end of the pass decides about that.
type errorPauses struct {
	workqueue.TypedRateLimiter[ctrl.Request]
	passes *detached
}

// Forget implements workqueue.TypedRateLimiter.
func (e errorPauses) Forget(request ctrl.Request) {
	e.passes.mu.Lock()
	running := e.passes.running[request.NamespacedName]
	e.passes.mu.Unlock()
	if running == nil {
		e.TypedRateLimiter.Forget(request)
	}
}

// over reports whether the pass has ended.
func (r *detachedPass) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// begin starts a pass.
func (f *detached) begin(ctx context.Context, request ctrl.Request) *detachedPass {
	process := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	out := &detachedPass{cancel: cancel, left: make(chan struct{}), done: make(chan struct{}), asked: f.askedOf(ctx, request.NamespacedName)}
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
		}, waited: func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			out.waits = false
		}}
		out.result, out.err = f.guarded(ctx, request, on)
		close(out.done)
		select {
		case <-out.left: // nobody waits for done
			f.enqueue(process, request.NamespacedName)
		default:
		}
	})
	return out
}

// guarded makes a pass and turns a panic into an error: in a goroutine of its own, a panic would
// end the process and with it all passes.
func (f *detached) guarded(ctx context.Context, request ctrl.Request, on pauses) (_ ctrl.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = reconcile.Panicked(v)
		}
	}()
	return f.inner.reconcile(ctx, request, on)
}

// enqueue makes a worker look at the HelmRelease.
func (f *detached) enqueue(process context.Context, key client.ObjectKey) {
	o := &helmRelease{}
	o.Namespace, o.Name = key.Namespace, key.Name
	select {
	case f.ended <- event.TypedGenericEvent[client.Object]{Object: o}:
	case <-process.Done():
	}
}

// look ends a waiting pass if its HelmRelease no longer asks for what it waits for. After an error,
// which says why that is not known, it has to be called again.
func (f *detached) look(ctx context.Context, key client.ObjectKey, running *detachedPass) error {
	asked := f.askedOf(ctx, key)
	f.mu.Lock()
	if asked != running.asked {
		running.asked, running.stale, running.unjudged = asked, true, true
	}
	judge := running.unjudged && running.waits
	running.unjudged = running.unjudged && !judge
	f.mu.Unlock()
	if !judge {
		return nil
	}
	differs, err := f.inner.supersedes(ctx, key)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil:
		running.unjudged = true
		return fmt.Errorf("find out whether the wait is still for what is asked for: %w", err)
	case differs && running.waits:
		running.cancel(reconcile.ErrSuperseded)
	case differs: // the wait has ended in the meantime, and another one may follow
		running.unjudged = true
	}
	return nil
}

// askedOf returns what the HelmRelease asks for: its generation, the annotations that request a
// pass, whether it is being deleted, and what it depends on.
func (f *detached) askedOf(ctx context.Context, key client.ObjectKey) stateDigest {
	o := &helmRelease{}
	if err := f.inner.client.Get(ctx, key, o); err != nil {
		return stateDigest{}
	}
	hr, err := decoded(o)
	if err != nil {
		return stateDigest{}
	}
	annotations := map[string]string{}
	for _, name := range asking {
		annotations[name] = hr.Metadata.Annotations[name]
	}
	hr.Status, hr.Metadata.Annotations, hr.Metadata.Finalizers = flux.HelmReleaseStatus{}, annotations, nil
	return stateDigest{content: contentOf(hr), dependencies: f.inner.dependencies(ctx, hr)}
}

// supersedes reports whether a pass over the HelmRelease would now create another revision than the
// one being waited for, or none. If that is held, which only the next pass can say in the status, an event
// says so.
func (r *reconciler) supersedes(ctx context.Context, key client.ObjectKey) (bool, error) {
	v := &view{object: &helmRelease{}}
	v.object.Namespace, v.object.Name = key.Namespace, key.Name
	if err := r.refresh(ctx, v); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	hr := v.hr
	in := reconcile.Sources{}
	if hr.Metadata.DeletionTimestamp == nil && !hr.Spec.Suspend && (hr.Spec.Chart == nil) != (hr.Spec.ChartRef == nil) {
		r.sources(ctx, v, &in)
	}
	defer r.provide(key, &in)()
	differs, err := r.passes.Supersedes(ctx, hr, in)
	if held, ok := errors.AsType[*reconcile.Held](err); ok {
		r.events.tell(v.object, []reconcile.Event{held.Event()})
		return false, nil
	}
	return differs, err
}

// Start waits for ctx to end, and then for all passes to end.
func (f *detached) Start(ctx context.Context) error {
	<-ctx.Done()
	f.all.Wait()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. It returns the same as for the
// workers: the manager first stops the runnables that need no leader and waits for them, so Start
// would wait for passes that have not been told to stop.
func (f *detached) NeedLeaderElection() bool { return !f.inner.options.AutomaticShards }

// pauses are the functions that a pass calls when it starts a hook, and when it begins to wait and no
// longer does.
type pauses struct{ hook, waiting, waited func() }
