package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// share makes this replica take only its part of the HelmReleases.
func (r *reconciler) share(m manager.Manager, config *rest.Config, o Options) error {
	config = rest.CopyConfig(config)
	config.Timeout = o.Leader.RenewDeadline / 2
	leases, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return err
	}
	r.shards = newShards(leases.Leases(o.Namespace), o, time.Now, m.GetLogger())
	r.gained = make(chan event.GenericEvent)
	r.shards.changed = func(ctx context.Context, gained func(types.UID) bool) { go r.takeOn(ctx, gained) }
	return m.Add(r.shards)
}

// takeOn requests passes over the HelmReleases that have become this replica's.
func (r *reconciler) takeOn(ctx context.Context, gained func(types.UID) bool) {
	all := &listOf[helmReleaseKind]{}
	if err := r.client.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return // the process is about to end
	}
	for i := range all.Items {
		if !gained(all.Items[i].UID) {
			continue
		}
		select {
		case r.gained <- event.GenericEvent{Object: &all.Items[i]}:
		case <-ctx.Done():
			return
		}
	}
}

// ours reports whether a HelmRelease is this replica's, and forgets it if it is not.
func (r *reconciler) ours(o *helmRelease) bool {
	if r.shards == nil || r.shards.owns(o.UID) {
		return true
	}
	key := client.ObjectKeyFromObject(o)
	r.synced.forget(key)
	r.wrote.forget(key)
	r.drift.forget(key)
	r.metrics.forget(key)
	return false
}
