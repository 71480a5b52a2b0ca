package controller

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// refusing is an API server that refuses the first lists, and reports each list.
type refusing struct {
	client.Reader
	lists    chan int
	refusals int
	sent     int
}

func (r *refusing) List(context.Context, client.ObjectList, ...client.ListOption) error {
	r.sent++
	r.lists <- r.sent
	if r.sent <= r.refusals {
		return errors.New("forbidden")
	}
	return nil
}

// informing is a cache whose informers have synced once it says so.
type informing struct {
	cache.Cache
	synced atomic.Bool
}

type informer struct {
	cache.Informer
	of *informing
}

type registered struct {
	toolscache.ResourceEventHandlerRegistration
	of *informing
}

func (i *informing) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return informer{of: i}, nil
}

func (i informer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return registered{of: i.of}, nil
}

func (r registered) HasSynced() bool { return r.of.synced.Load() }

// unwatched returns the kinds in the metric.
func unwatched(t *testing.T, registry *prometheus.Registry) (kinds []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Error(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "kubectl_release_unwatched_kinds" {
				kinds = append(kinds, m.String())
			}
		}
	}
	return kinds
}

// A kind whose list is refused is tried again until it succeeds, and a metric shows it until then; no
// pass waits for that, nor requests it twice.
func TestKindsAreTriedAgain(t *testing.T) {
	registry := prometheus.NewRegistry()
	counted, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	api, known := &refusing{lists: make(chan int), refusals: 3}, &informing{}
	known.synced.Store(true)
	d := &driftWatch{
		cache: known, live: api, metrics: counted, log: logr.Discard(), kinds: map[schema.GroupVersionKind]*kindWatch{},
		begin: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[schema.GroupVersionKind](time.Millisecond, time.Millisecond)),
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Start(ctx) }()
	k := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	for range 3 { // while there is no answer yet
		if d.watched(k) {
			t.Error("it is watched before it was listed")
		}
	}
	for want := 1; want <= api.refusals+1; want++ {
		if got := <-api.lists; got != want {
			t.Fatalf("list %d comes as the %d.", want, got)
		}
		if want > 1 && want <= api.refusals && len(unwatched(t, registry)) != 1 {
			t.Error("the metric does not tell that it is not watched")
		}
	}
	cancel() // Start ends after its current work
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !d.watched(k) {
		t.Error("it is not watched though it can be")
	}
	if kinds := unwatched(t, registry); len(kinds) != 0 {
		t.Errorf("the metric tells of %q", kinds)
	}
}

// Nothing reports changes between the end of a pass and the start of the watch: the
// HelmRelease gets one more pass when the watch has started, and then no more.
func TestAPassThatEndedBeforeTheWatch(t *testing.T) {
	counted, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	known := &informing{}
	d := &driftWatch{
		cache: known, live: &refusing{lists: make(chan int, 9)}, metrics: counted, log: logr.Discard(), kinds: map[schema.GroupVersionKind]*kindWatch{},
		begin:   workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[schema.GroupVersionKind](time.Millisecond, time.Millisecond)),
		changed: make(chan event.GenericEvent, 9), asked: map[client.ObjectKey]bool{}, wanted: func(client.ObjectKey, time.Time) bool { return true },
	}
	go func() { _ = d.Start(t.Context()) }()
	release := func(name string) *flux.HelmRelease {
		hr := &flux.HelmRelease{}
		hr.Metadata.Namespace, hr.Metadata.Name = "apps", name
		hr.Status.Inventory = &flux.Inventory{Entries: []flux.InventoryEntry{{ID: "apps_web_apps_Deployment", Version: "v1"}}}
		return hr
	}
	d.follow(release("web"))
	d.follow(release("gone"))
	d.forget(client.ObjectKey{Namespace: "apps", Name: "gone"})
	known.synced.Store(true)
	if o := <-d.changed; o.Object.GetName() != "web" {
		t.Errorf("a pass over %s is asked for", o.Object.GetName())
	}
	d.follow(release("web"))
	d.known(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if len(d.changed) != 0 {
		t.Error("a further pass is asked for")
	}
}
