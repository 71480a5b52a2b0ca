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

// kindWatch is how the watch of a kind stands.
type kindWatch struct {
	// synced says whether the kind's objects are known; nil before it is watched.
	synced func() bool
	// refused says that the API server has refused to list or to watch it when that was tried last.
	refused bool
	// awaited are HelmReleases whose last pass has ended before the kind's objects were known.
	awaited map[client.ObjectKey]bool
}

// knows says whether the kind's objects are known, and changes of them told.
func (w *kindWatch) knows() bool { return w.synced != nil && !w.refused && w.synced() }

// watched says whether a kind is watched, and its objects are known. One that nobody has asked
// for before begins to be, which no pass waits for.
func (d *driftWatch) watched(k schema.GroupVersionKind) bool {
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	return d.kind(k).knows()
}

// kind is how the watch of a kind stands; kindsMu is held.
func (d *driftWatch) kind(k schema.GroupVersionKind) *kindWatch {
	w := d.kinds[k]
	if w == nil {
		w = &kindWatch{}
		d.kinds[k] = w
		d.begin.Add(k)
	}
	return w
}

// follow notes that a pass over the HelmRelease has ended: of a kind that is not watched yet nobody has
// told what has changed since, so that a pass is asked for once it is.
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

// known asks for passes over HelmReleases that have awaited the kind.
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

// Start begins to watch what is asked for, until the context ends. A kind that can't be listed
// is tried again, after a pause that grows; until then its HelmReleases are looked at at each
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
			d.went(k, err)
			d.begin.AddRateLimited(k)
		}
		d.begin.Done(k)
	}
}

// NeedLeaderElection says that replicas that share watch, too.
func (d *driftWatch) NeedLeaderElection() bool { return false }

// listTimeout is how long the first list of a kind may take.
const listTimeout = 30 * time.Second

// watch begins to watch a kind that can be listed.
func (d *driftWatch) watch(ctx context.Context, k schema.GroupVersionKind) error {
	if err := d.list(ctx, k); err != nil {
		return err
	}
	d.went(k, nil)
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

// list asks for one object of a kind.
func (d *driftWatch) list(ctx context.Context, k schema.GroupVersionKind) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	once, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return d.live.List(once, list, client.Limit(1))
}

// register has changes of a kind's objects told. The function that comes back says whether the
// objects are known.
func (d *driftWatch) register(ctx context.Context, k schema.GroupVersionKind) (synced func() bool, err error) {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(k)
	informer, err := d.cache.GetInformer(ctx, o, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	registered, err := informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, first bool) { d.turn(!first, o) },
		UpdateFunc: func(was, is any) { d.turn(true, was, is) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			d.turn(true, o)
		},
	})
	if err != nil {
		return nil, err
	}
	return registered.HasSynced, nil
}

// informer makes the informer of a kind, which hears how its lists and watches go.
func (d *driftWatch) informer(lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	k, inner := o.GetObjectKind().GroupVersionKind(), toolscache.ToListerWatcherWithContext(lw)
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := inner.ListWithContext(ctx, options)
			if err != nil {
				d.heard(k, err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := inner.WatchWithContext(ctx, options)
			d.heard(k, err)
			return w, err
		},
	}, o, resync, indexers)
}

// heard notes how a list or a watch of a kind went. One that the API server refuses, since a role
// has changed or a CRD has gone, does not count as watched until a watch of it has begun again,
// which its informer goes on to try. Where there is no answer, the watch goes on as soon as there
// is one, with all that has changed.
func (d *driftWatch) heard(k schema.GroupVersionKind, err error) {
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		return
	}
	if d.went(k, err); err == nil {
		d.known(k)
	}
}

// went keeps whether a kind could be listed and watched, and tells when that changes.
func (d *driftWatch) went(k schema.GroupVersionKind, err error) {
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	w := d.kinds[k]
	if w.refused == (err != nil) {
		return
	}
	w.refused = err != nil
	d.metrics.watches(k.GroupKind(), !w.refused)
	if w.refused {
		d.log.Info("a kind can't be watched: its drift is looked for at the interval", "group", k.Group, "kind", k.Kind, "reason", err.Error())
	}
}
