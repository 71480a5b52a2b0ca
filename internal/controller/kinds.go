package controller

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watched says whether a kind is watched, and its objects are known. One that nobody has asked
// for before begins to be, which no pass waits for.
func (d *driftWatch) watched(k schema.GroupVersionKind) bool {
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	synced, asked := d.kinds[k]
	if !asked {
		d.kinds[k] = nil
		d.begin.Add(k)
	}
	return synced != nil && synced()
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
		synced, err := d.watch(ctx, k)
		if err == nil {
			d.kindsMu.Lock()
			d.kinds[k] = synced
			d.kindsMu.Unlock()
			d.begin.Forget(k)
		} else {
			d.log.Info("a kind can't be watched yet: its drift is looked for at the interval", "group", k.Group, "kind", k.Kind, "reason", err.Error())
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

// watch begins to watch a kind. The function that comes back says whether its objects are known.
func (d *driftWatch) watch(ctx context.Context, k schema.GroupVersionKind) (synced func() bool, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	once, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	if err := d.live.List(once, list, client.Limit(1)); err != nil {
		return nil, err
	}
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
