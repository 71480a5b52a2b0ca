package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusing is an API server that refuses so many lists, and hears of each.
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

// informing is a cache whose informers know all at once.
type informing struct{ cache.Cache }

type informer struct{ cache.Informer }

type registered struct {
	toolscache.ResourceEventHandlerRegistration
}

func (informing) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return informer{}, nil
}

func (informer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return registered{}, nil
}

func (registered) HasSynced() bool { return true }

// unwatched are the kinds that the metric names.
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

// A kind whose list is refused is tried again until it is not, which is told in a metric; no
// pass waits for that, nor asks for it twice.
func TestKindsAreTriedAgain(t *testing.T) {
	registry := prometheus.NewRegistry()
	counted, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	api := &refusing{lists: make(chan int), refusals: 3}
	d := &driftWatch{
		cache: informing{}, live: api, metrics: counted, log: logr.Discard(), kinds: map[schema.GroupVersionKind]*kindWatch{},
		begin: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[schema.GroupVersionKind](time.Millisecond, time.Millisecond)),
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Start(ctx) }()
	k := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	for range 3 { // while nobody has answered yet
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
	cancel() // Start ends behind what it does
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
