// Package fakecloud does what a cloud's controllers do for a cluster: it creates
// and deletes volumes for claims, and gives load balancers an address.
//
// It does not store data and does not forward traffic.
package fakecloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

// retry is how long after a failed pass the next one begins.
const retry = 250 * time.Millisecond

// cloud sees the cluster through caches and writes what is missing. Each pass
// checks everything, since a test cluster is small.
type cloud struct {
	client   kubernetes.Interface
	claims   corelisters.PersistentVolumeClaimLister
	volumes  corelisters.PersistentVolumeLister
	classes  storagelisters.StorageClassLister
	services corelisters.ServiceLister
	changed  chan struct{}
}

// Start creates the storage classes and serves the cluster until ctx ends.
func Start(ctx context.Context, client kubernetes.Interface) error {
	if err := createClasses(ctx, client); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core, storage := factory.Core().V1(), factory.Storage().V1()
	c := &cloud{
		client:   client,
		claims:   core.PersistentVolumeClaims().Lister(),
		volumes:  core.PersistentVolumes().Lister(),
		classes:  storage.StorageClasses().Lister(),
		services: core.Services().Lister(),
		changed:  make(chan struct{}, 1),
	}
	note := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.note() },
		UpdateFunc: func(any, any) { c.note() },
		DeleteFunc: func(any) { c.note() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		core.PersistentVolumeClaims().Informer(),
		core.PersistentVolumes().Informer(),
		storage.StorageClasses().Informer(),
		core.Services().Informer(),
	} {
		if _, err := informer.AddEventHandler(note); err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("list all %s: %w", kind, context.Cause(ctx))
		}
	}
	go c.serve(ctx)
	return nil
}

// note records that something has changed; one note is enough for a pass.
func (c *cloud) note() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *cloud) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		}
		if c.pass(ctx) != nil {
			// A conflict or a stale cache: the next pass sees more.
			time.AfterFunc(retry, c.note)
		}
	}
}

func (c *cloud) pass(ctx context.Context) error {
	return errors.Join(c.provision(ctx), c.giveBack(ctx), c.balance(ctx))
}

// ignoreRace drops the errors of writing what another pass, or another writer,
// has already done.
func ignoreRace(err error) error {
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
