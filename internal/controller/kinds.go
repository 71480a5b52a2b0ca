package controller

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// kindWatch is the state of the watch of a kind.
type kindWatch struct {
	// synced reports whether the kind's objects are known; it is nil before the kind is watched.
	synced func() bool
	// refused is set if the API server refused the last attempt to list or watch the kind.
	refused bool
	// awaited are the HelmReleases whose last pass ended before the kind's objects were known.
	awaited map[client.ObjectKey]bool
}

// knows reports whether the kind's objects are known and their changes are seen.
func (w *kindWatch) knows() bool { return w.synced != nil && !w.refused && w.synced() }

// watched reports whether a kind is watched and its objects are known. The watch of a kind that
// nobody has asked for before is started; no pass waits for that.
func (d *driftWatch) watched(k schema.GroupVersionKind) bool {
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	return d.kind(k).knows()
}

// kind returns the state of the watch of a kind, and queues a new kind. The caller holds kindsMu.
func (d *driftWatch) kind(k schema.GroupVersionKind) *kindWatch {
	w := d.kinds[k]
	if w == nil {
		w = &kindWatch{}
		d.kinds[k] = w
		d.begin.Add(k)
	}
	return w
}

// follow records that a pass over the HelmRelease has ended. For kinds that are not watched yet,
// changes since then go unseen, so another pass is requested once they are watched.
func (d *driftWatch) follow(hr *flux.HelmRelease) {
	kinds, _ := inventoryKinds(hr)
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	for _, k := range kinds {
		w := d.kind(k)
		if w.knows() {
			continue
		}
		if w.awaited == nil {
			w.awaited = map[client.ObjectKey]bool{}
		}
		w.awaited[client.ObjectKey{Namespace: hr.Metadata.Namespace, Name: hr.Metadata.Name}] = true
	}
}

// known requests passes over the HelmReleases that have been waiting for the kind.
func (d *driftWatch) known(k schema.GroupVersionKind) {
	d.kindsMu.Lock()
	w := d.kinds[k]
	if !w.knows() {
		d.kindsMu.Unlock()
		return
	}
	awaited := w.awaited
	w.awaited = nil
	d.kindsMu.Unlock()
	for key := range awaited {
		d.ask(key)
	}
}

// Start starts the watches that are asked for, until ctx ends. A kind that can't be listed is
// retried with increasing pauses; until then, its HelmReleases are checked for drift at each
// interval.
func (d *driftWatch) Start(ctx context.Context) error {
	stop := context.AfterFunc(ctx, d.begin.ShutDown)
	defer stop()
	for {
		k, ended := d.begin.Get()
		if ended {
			return nil
		}
		err := d.watch(ctx, k)
		if err == nil {
			d.begin.Forget(k)
		} else {
			d.setWatched(k, err)
			d.begin.AddRateLimited(k)
		}
		d.begin.Done(k)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: replicas that share the
// HelmReleases all watch.
func (d *driftWatch) NeedLeaderElection() bool { return false }

// listTimeout is how long the first list of a kind may take.
const listTimeout = 30 * time.Second

// watch starts the watch of a kind if the kind can be listed.
func (d *driftWatch) watch(ctx context.Context, k schema.GroupVersionKind) error {
	if err := d.list(ctx, k); err != nil {
		return err
	}
	d.setWatched(k, nil)
	synced, err := d.register(ctx, k)
	if err != nil {
		return err
	}
	d.kindsMu.Lock()
	d.kinds[k].synced = synced
	d.kindsMu.Unlock()
	go func() {
		if toolscache.WaitForCacheSync(ctx.Done(), synced) {
			d.known(k)
		}
	}()
	return nil
}

// list requests one object of a kind, to see whether that is allowed.
func (d *driftWatch) list(ctx context.Context, k schema.GroupVersionKind) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	once, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return d.live.List(once, list, client.Limit(1))
}

// register subscribes to changes of a kind's objects. synced reports whether the existing objects
// are known.
func (d *driftWatch) register(ctx context.Context, k schema.GroupVersionKind) (synced func() bool, err error) {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(k)
	informer, err := d.cache.GetInformer(ctx, o, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	registered, err := informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, first bool) { d.recordChange(k, !first, o) },
		UpdateFunc: func(was, is any) { d.recordChange(k, true, was, is) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			d.recordChange(k, true, o)
		},
	})
	if err != nil {
		return nil, err
	}
	return registered.HasSynced, nil
}

// informer returns the informer of a kind, and passes the outcomes of its lists and watches to
// watchResult.
func (d *driftWatch) informer(lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	k, inner := o.GetObjectKind().GroupVersionKind(), toolscache.ToListerWatcherWithContext(lw)
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := inner.ListWithContext(ctx, options)
			if err != nil {
				d.watchResult(k, err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := inner.WatchWithContext(ctx, options)
			d.watchResult(k, err)
			return w, err
		},
	}, o, resync, indexers)
}

// watchResult records the outcome of a list or a watch of a kind. A kind that the API server refuses,
// because a role has changed or a CRD is gone, does not count as watched until a watch of it has
// started again, which its informer keeps trying. If the server does not answer, nothing is
// recorded: the watch resumes once it does, with all changes since.
func (d *driftWatch) watchResult(k schema.GroupVersionKind, err error) {
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		return
	}
	if d.setWatched(k, err); err == nil {
		d.known(k)
	}
}

// setWatched records whether a kind could be listed and watched, and updates the metric when that
// changes.
func (d *driftWatch) setWatched(k schema.GroupVersionKind, err error) {
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	w := d.kinds[k]
	if w.refused == (err != nil) {
		return
	}
	w.refused = err != nil
	d.metrics.watches(k.GroupKind(), !w.refused)
	if w.refused {
		d.log.Info("a kind can't be watched: its drift is checked only at the interval", "group", k.Group, "kind", k.Kind, "reason", err.Error())
	}
}
