package controller

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kindWatch is how the watch of a kind stands.
type kindWatch struct {
	// synced says whether the kind's objects are known; nil before it is watched.
	synced func() bool
	// refused says that the API server has refused to list it when that was tried last.
	refused bool
}

// watched says whether a kind is watched, and its objects are known. One that nobody has asked
// for before begins to be, which no pass waits for.
func (d *driftWatch) watched(k schema.GroupVersionKind) bool {
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	w := d.kinds[k]
	if w == nil {
		d.kinds[k] = &kindWatch{}
		d.begin.Add(k)
		return false
	}
	return w.synced != nil && !w.refused && w.synced()
}

// broke hears of a watch that ended and could not be begun again. Where the API server refuses
// it, since a role has changed or a CRD has gone, all kinds are tried: who has heard is not told
// which one it is. Where there is no answer, watches go on as soon as there is one, with all that has changed.
func (d *driftWatch) broke(ctx context.Context, r *toolscache.Reflector, err error) {
	toolscache.DefaultWatchErrorHandler(ctx, r, err)
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		return
	}
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	for k, w := range d.kinds {
		if w.synced != nil && !w.refused {
			d.begin.Add(k)
		}
	}
}

// Start begins to watch what is asked for, until the context ends. A kind that can't be listed,
// or no longer, is tried again, after a pause that grows; until then its HelmReleases are looked
// at at each interval.
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
			d.log.Info("a kind can't be watched: its drift is looked for at the interval", "group", k.Group, "kind", k.Kind, "reason", err.Error())
			d.begin.AddRateLimited(k)
		}
		d.metrics.watches(k.GroupKind(), err == nil)
		d.begin.Done(k)
	}
}

// NeedLeaderElection says that replicas that share watch, too.
func (d *driftWatch) NeedLeaderElection() bool { return false }

// listTimeout is how long the first list of a kind may take.
const listTimeout = 30 * time.Second

// watch begins to watch a kind that can be listed, once.
func (d *driftWatch) watch(ctx context.Context, k schema.GroupVersionKind) error {
	err := d.list(ctx, k)
	d.kindsMu.Lock()
	w := d.kinds[k]
	w.refused = err != nil
	begun := w.synced != nil
	d.kindsMu.Unlock()
	if err != nil || begun {
		return err
	}
	synced, err := d.register(ctx, k)
	if err != nil {
		return err
	}
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	w.synced = synced
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
