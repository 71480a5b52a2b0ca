package controller

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gate is an API server that knows no objects, and lists and watches while it is open. What
// watches is cut off when it closes.
type gate struct {
	shut  atomic.Bool
	mu    sync.Mutex
	close chan struct{}
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut.Store(!open)
	close(g.close)
	g.close = make(chan struct{})
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	cut := g.close
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case g.shut.Load():
		w.WriteHeader(http.StatusForbidden)
		refused := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil).Status()
		refused.APIVersion, refused.Kind = "v1", "Status"
		_ = json.NewEncoder(w).Encode(refused)
	case r.URL.Query().Get("watch") != "":
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			_, _ = w.Write([]byte(`{"type": "BOOKMARK", "object": {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}` + "\n"))
		}
		w.(http.Flusher).Flush()
		select {
		case <-cut:
		case <-r.Context().Done():
		}
	default:
		_, _ = w.Write([]byte(`{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "1"}, "items": []}`))
	}
}

// A kind that may no longer be listed and watched does not count as watched until it may be again.
func TestAWatchThatIsRefusedLater(t *testing.T) {
	g := &gate{close: make(chan struct{})}
	server := httptest.NewServer(g)
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	mapper := meta.NewDefaultRESTMapper(nil)
	k := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	mapper.Add(k, meta.RESTScopeNamespace)
	live, err := client.New(config, client.Options{Scheme: scheme.Scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	counted, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	d := &driftWatch{
		live: live, metrics: counted, log: logr.Discard(), kinds: map[schema.GroupVersionKind]*kindWatch{},
		begin: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[schema.GroupVersionKind](time.Millisecond, 10*time.Millisecond)),
	}
	if err := d.open(config, cache.Options{Scheme: scheme.Scheme, Mapper: mapper}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer cancel()
	ended.Go(func() { _ = d.cache.Start(ctx) })
	ended.Go(func() { _ = d.Start(ctx) })
	becomes := func(want bool) {
		t.Helper()
		for d.watched(k) != want {
			select {
			case <-t.Context().Done():
				t.Fatalf("watched does not become %t", want)
			case <-time.After(time.Millisecond):
			}
		}
	}
	becomes(true)
	g.set(false)
	becomes(false)
	g.set(true)
	becomes(true)
}

// Only where the API server refuses is there a reason to try a kind again.
func TestWatchesThatGoOnByThemselves(t *testing.T) {
	k := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	resource := schema.GroupResource{Resource: "configmaps"}
	for err, tried := range map[error]bool{
		context.DeadlineExceeded:                             false,
		apierrors.NewTimeoutError("too much to do", 1):       false,
		apierrors.NewTooManyRequestsError("too much to do"):  false,
		apierrors.NewForbidden(resource, "", nil):            true,
		apierrors.NewNotFound(resource, ""):                  true,
		apierrors.NewMethodNotSupported(resource, "list"):    true,
		apierrors.NewUnauthorized("the token is no good"):    true,
		apierrors.NewInternalError(errors.New("of its own")): false,
	} {
		d := &driftWatch{
			kinds: map[schema.GroupVersionKind]*kindWatch{k: {synced: func() bool { return true }}},
			begin: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[schema.GroupVersionKind]()),
		}
		d.broke(t.Context(), &toolscache.Reflector{}, err)
		if (d.begin.Len() > 0) != tried {
			t.Errorf("%v: tried again: %t", err, !tried)
		}
		d.begin.ShutDown()
	}
}
