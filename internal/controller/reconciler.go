package controller

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// finalizer is helm-controller's, so either can take over from the other.
const finalizer = "finalizers.fluxcd.io"

// passer makes passes; a *reconcile.Reconciler is one.
type passer interface {
	Reconcile(ctx context.Context, hr *flux.HelmRelease, in reconcile.Sources, report reconcile.Report) (reconcile.Outcome, error)
	Supersedes(ctx context.Context, hr *flux.HelmRelease, in reconcile.Sources) (bool, error)
}

// reconciler makes passes over HelmReleases, each from the queue to the status.
type reconciler struct {
	// client reads HelmReleases and sources from the cache, live from the API server.
	client client.Client
	live   client.Reader

	passes   passer
	detached *detached
	charts   *charts
	records  *recordDigests
	synced   *syncDigests
	wrote    *writes
	drift    *driftWatch
	events   *events
	metrics  *metrics
	memory   *budget
	options  Options
	now      func() time.Time

	// tries counts passes in a row that want another one soon. The queue's own count would not
	// do: each pass without an error resets it.
	tries workqueue.TypedRateLimiter[client.ObjectKey]

	// shards is nil if one replica has all HelmReleases; gained receives those that this
	// replica has taken over.
	shards *shards
	gained chan event.GenericEvent
}

// reconcile does what controller-runtime's Reconcile is to do. After errors, it is called again with
// increasing pauses.
func (r *reconciler) reconcile(ctx context.Context, request ctrl.Request, on pauses) (ctrl.Result, error) {
	began := r.now()
	key := request.NamespacedName
	r.drift.passBegan(key)
	cached := &helmRelease{}
	if err := r.client.Get(ctx, key, cached); err != nil {
		r.forget(key, err)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.ours(cached) {
		return ctrl.Result{}, nil
	}
	hr, err := decoded(cached)
	if err != nil {
		if unwritten := r.undecodable(ctx, cached, err); unwritten != nil {
			return ctrl.Result{}, unwritten
		}
		return ctrl.Result{}, ctrl.TerminalError(err)
	}
	defer func() { r.metrics.passed(key, r.now().Sub(began)) }()
	looked := r.look(ctx, hr)
	seen := r.watchesRecords(hr) && r.knows(ctx, hr) && !looked.blind
	if seen && r.synced.unchanged(key, looked) {
		r.metrics.skipped()
		return ctrl.Result{RequeueAfter: r.jitter(hr.Spec.Interval.Duration)}, nil
	}
	view := &view{object: cached, hr: hr}
	if !r.settled(view) {
		if err := r.refresh(ctx, view); err != nil {
			r.forget(key, err)
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}
	switch kept := slices.Contains(view.hr.Metadata.Finalizers, finalizer); {
	case kept:
		return r.pass(ctx, view, looked, on)
	case view.hr.Metadata.DeletionTimestamp == nil:
		return ctrl.Result{}, r.finalize(ctx, view.object, true)
	}
	// Its release is gone: only somebody else's finalizer still delays the deletion.
	return ctrl.Result{}, nil
}

// pass makes the pass and writes its outcome.
func (r *reconciler) pass(ctx context.Context, v *view, looked stateDigest, on pauses) (ctrl.Result, error) {
	o, hr := v.object, v.hr
	was := hr.Status
	in := r.sourcesFor(ctx, v, looked, on)
	defer r.provide(client.ObjectKeyFromObject(o), &in)()
	outcome, failed := r.passes.Reconcile(ctx, hr, in, r.reporter(v, &was))
	// What was done is recorded even if the process is about to end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if outcome.Changed && !v.behind {
		_ = r.verify(ctx, v)
	}
	if broken := (*reconcile.PanicError)(nil); errors.As(failed, &broken) {
		return ctrl.Result{}, failed // the status stays as it was last written
	}
	if v.behind {
		return ctrl.Result{RequeueAfter: behindPause}, nil
	}
	r.tell(o, outcome.Events)
	if outcome.Released {
		return ctrl.Result{}, r.released(ctx, o, hr)
	}
	err := r.writeStatus(ctx, v, was, outcome.Status)
	switch {
	case v.behind:
		return ctrl.Result{RequeueAfter: behindPause}, nil
	case err != nil:
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	hr.Status = outcome.Status
	if failed == nil && !outcome.Again && inSync(hr) {
		looked.content = contentOf(hr)
		r.synced.note(client.ObjectKeyFromObject(o), looked)
		if hr.DriftMode() != "" && hr.Spec.KubeConfig == nil {
			r.drift.follow(hr)
		}
	}
	return r.next(client.ObjectKeyFromObject(o), outcome, failed)
}

// next says when the next pass follows one whose outcome has been written.
func (r *reconciler) next(key client.ObjectKey, outcome reconcile.Outcome, failed error) (ctrl.Result, error) {
	switch {
	case failed != nil:
		return ctrl.Result{}, failed
	case outcome.Again:
		return ctrl.Result{RequeueAfter: r.tries.When(key)}, nil
	}
	r.tries.Forget(key)
	if outcome.Fixed {
		return ctrl.Result{RequeueAfter: outcome.After}, nil
	}
	return ctrl.Result{RequeueAfter: r.jitter(outcome.After)}, nil
}

// tell emits events, and records drift among them as dealt with.
func (r *reconciler) tell(o *helmRelease, told []reconcile.Event) {
	r.events.tell(o, told)
	for _, t := range told {
		if strings.HasPrefix(t.Reason, "Drift") {
			r.drift.driftHandled(client.ObjectKeyFromObject(o), r.now())
		}
	}
}

// writeTimeout is how long the last write of a pass may take.
const writeTimeout = 10 * time.Second

// sourcesFor returns what a pass works with, without the function that loads the chart.
func (r *reconciler) sourcesFor(ctx context.Context, v *view, looked stateDigest, on pauses) reconcile.Sources {
	hr := v.hr
	in := reconcile.Sources{
		Hook: on.hook, Waiting: on.waiting, Waited: on.waited,
		RecordsUnchanged: r.watchesRecords(hr) && r.synced.unchanged(client.ObjectKeyFromObject(v.object), looked),
	}
	if hr.Metadata.DeletionTimestamp == nil && !hr.Spec.Suspend && (hr.Spec.Chart == nil) != (hr.Spec.ChartRef == nil) {
		r.sources(ctx, v, &in)
	}
	return in
}

// sources looks up the chart's source, after creating or updating it if spec.chart describes
// one.
func (r *reconciler) sources(ctx context.Context, v *view, in *reconcile.Sources) {
	o, hr := v.object, v.hr
	ref := hr.ChartSource()
	if r.options.NoCrossNamespaceRefs && ref.Namespace != hr.Metadata.Namespace {
		return // the pass says that it is denied
	}
	helmChart, done, err := r.template(ctx, v)
	if v.behind {
		in.Err = err
		return
	}
	hr.Status.HelmChart = helmChart
	if done != "" {
		verb, _, _ := strings.Cut(done, " ")
		r.events.tell(o, []reconcile.Event{{Trace: true, Reason: ref.Kind + verb, Message: done}})
	}
	if err != nil {
		r.events.tell(o, []reconcile.Event{{Warning: true, Trace: true, Reason: ref.Kind + "SyncErr", Message: err.Error()}})
		in.Err = err
		return
	}
	if in.Source = v.source; in.Source == nil {
		in.Source, in.Err = r.source(ctx, ref)
	}
}

// released deletes the source that was made from spec.chart, and removes the finalizer.
func (r *reconciler) released(ctx context.Context, o *helmRelease, hr *flux.HelmRelease) error {
	if hr.Status.HelmChart != "" && !hr.Spec.Suspend {
		if err := r.deleteSource(ctx, hr); err != nil {
			return err
		}
	}
	return r.finalize(ctx, o, false)
}

// finalize adds or removes the finalizer, if the object has not changed since it was read.
func (r *reconciler) finalize(ctx context.Context, o *helmRelease, on bool) error {
	next := slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == finalizer })
	if on {
		next = append(next, finalizer)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": next, "resourceVersion": o.ResourceVersion}})
	if err != nil {
		return err
	}
	err = r.client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(flux.FieldManager))
	return client.IgnoreNotFound(err)
}

func (r *reconciler) forget(key client.ObjectKey, err error) {
	if apierrors.IsNotFound(err) {
		r.synced.forget(key)
		r.wrote.forget(key)
		r.drift.forget(key)
		r.metrics.forget(key)
		r.tries.Forget(key)
	}
}

// jitter spreads passes by a share of the interval, so those that began together do not stay
// together.
func (r *reconciler) jitter(d time.Duration) time.Duration {
	share := float64(r.options.JitterPercentage) / 100
	return d + time.Duration(float64(d)*share*(2*rand.Float64()-1))
}
