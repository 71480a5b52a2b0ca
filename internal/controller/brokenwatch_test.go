package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// gate is an API server with one object that refuses some verbs. When these change, watches
// are cut off, and the object changes, too.
type gate struct {
	mu      sync.Mutex
	refused []string
	version int
	changed chan struct{}
}

func (g *gate) refuse(verbs ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused = verbs
	g.version++
	close(g.changed)
	g.changed = make(chan struct{})
}

// settings is the ConfigMap of the HelmRelease apps/web.
func settings(version int) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "apps", "name": "settings", "resourceVersion": "%d",
"labels": {"helm.toolkit.fluxcd.io/namespace": "apps", "helm.toolkit.fluxcd.io/name": "web"}}}`, version)
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb := "list"
	if r.URL.Query().Get("watch") != "" {
		verb = "watch"
	}
	g.mu.Lock()
	cut, refused, version := g.changed, slices.Contains(g.refused, verb), g.version
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case refused:
		w.WriteHeader(http.StatusForbidden)
		refused := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil).Status()
		refused.APIVersion, refused.Kind = "v1", "Status"
		_ = json.NewEncoder(w).Encode(refused)
	case verb == "watch":
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			_, _ = fmt.Fprintf(w, `{"type": "ADDED", "object": %s}{"type": "BOOKMARK", "object": {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"resourceVersion": "%d", "annotations": {"k8s.io/initial-events-end": "true"}}}}`, settings(version), version)
		}
		w.(http.Flusher).Flush()
		select {
		case <-cut:
		case <-r.Context().Done():
		}
	default:
		_, _ = fmt.Fprintf(w, `{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "%d"}, "items": [%s]}`, version, settings(version))
	}
}

// A kind that may no longer be watched, whether or not it may be listed, does not count as watched until it
// may be again, neither in the metric nor for passes; changes in the meantime are reported then.
func TestAWatchThatIsRefusedLater(t *testing.T) {
	g := &gate{version: 1, changed: make(chan struct{})}
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
	registry := prometheus.NewRegistry()
	counted, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	d := &driftWatch{
		sums: sums{digests: map[client.ObjectKey]fingerprint{}}, changed: make(chan event.GenericEvent, 1),
		wanted: func(client.ObjectKey, time.Time) bool { return true }, asked: map[client.ObjectKey]bool{},
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
		for d.watched(k) != want || len(unwatched(t, registry)) > 0 == want {
			select {
			case <-t.Context().Done():
				t.Fatalf("watched does not become %t", want)
			case <-time.After(time.Millisecond):
			}
		}
	}
	becomes(true)
	g.refuse("watch")
	becomes(false)
	g.refuse()
	select {
	case e := <-d.changed:
		if e.Object.GetNamespace() != "apps" || e.Object.GetName() != "web" {
			t.Errorf("a change of %v is told", client.ObjectKeyFromObject(e.Object))
		}
	case <-t.Context().Done():
		t.Error("what has changed while nothing was watched is not told")
	}
	becomes(true)
	g.refuse("list", "watch")
	becomes(false)
}

// Only a refusal by the API server makes a kind count as unwatched, and only that kind.
func TestWatchesThatGoOnByThemselves(t *testing.T) {
	k, other := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	resource := schema.GroupResource{Resource: "configmaps"}
	counted, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for err, goesOn := range map[error]bool{
		context.DeadlineExceeded:                             true,
		apierrors.NewTimeoutError("too much to do", 1):       true,
		apierrors.NewTooManyRequestsError("too much to do"):  true,
		apierrors.NewForbidden(resource, "", nil):            false,
		apierrors.NewNotFound(resource, ""):                  false,
		apierrors.NewMethodNotSupported(resource, "list"):    false,
		apierrors.NewUnauthorized("the token is no good"):    false,
		apierrors.NewInternalError(errors.New("of its own")): true,
	} {
		known := func() bool { return true }
		d := &driftWatch{metrics: counted, log: logr.Discard(), kinds: map[schema.GroupVersionKind]*kindWatch{k: {synced: known}, other: {synced: known}}}
		d.watchResult(k, err)
		if d.watched(k) != goesOn || !d.watched(other) {
			t.Errorf("%v: watched: %t, another kind: %t", err, d.watched(k), d.watched(other))
		}
	}
}
