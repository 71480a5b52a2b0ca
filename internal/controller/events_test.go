package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// told returns events that write to a cluster in memory.
func told(address string) (*events, *fake.Clientset) {
	api := fake.NewClientset()
	return &events{
		records: &eventWriter{events: api.CoreV1(), correlator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{}), queue: make(chan *corev1.Event, maxWaiting), log: logr.Discard()},
		address: address, client: &http.Client{}, now: time.Now, log: logr.Discard(), queue: make(chan notification, maxWaiting),
	}, api
}

func named(name string) *helmRelease {
	o := &helmRelease{}
	o.Namespace, o.Name, o.UID = "apps", name, "1"
	return o
}

// What waits when the process is told to end is sent before it does, to the API server and, unless it is
// only a trace, to notification-controller.
func TestWhatWasToldIsSentAtTheEnd(t *testing.T) {
	var posted atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notification
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil || n.Reason != "InstallSucceeded" {
			t.Errorf("posted: %+v, %v", n, err)
		}
		time.Sleep(10 * time.Millisecond)
		posted.Add(1)
	}))
	defer receiver.Close()
	e, api := told(receiver.URL)
	api.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		time.Sleep(10 * time.Millisecond)
		return false, nil, nil
	})
	end := e.start(t.Context())
	for _, name := range []string{"a", "b", "c"} {
		e.tell(named(name), []reconcile.Event{{Reason: "InstallSucceeded", Message: "it is there", Metadata: map[string]string{"m": name}}})
	}
	e.tell(named("a"), []reconcile.Event{{Trace: true, Reason: "HelmChartCreated", Metadata: map[string]string{"m": "a"}}})
	end(t.Context())
	list, err := api.CoreV1().Events("apps").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 4 || posted.Load() != 3 {
		t.Fatalf("%d events, %d notifications, %v", len(list.Items), posted.Load(), err)
	}
	for _, is := range list.Items {
		if is.Source.Component != flux.ControllerName || is.Type != "Normal" || is.Count != 1 || is.Annotations["m"] != is.InvolvedObject.Name {
			t.Errorf("%+v", is)
		}
	}
}

// The end waits for a receiver that does not answer no longer than it may.
func TestTheEndDoesNotWaitForTheDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, api := told("")
		api.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, context.DeadlineExceeded
		})
		end := e.start(t.Context())
		began := time.Now()
		e.tell(named("a"), []reconcile.Event{{Reason: "InstallSucceeded"}, {Reason: "TestSucceeded"}})
		ctx, cancel := context.WithTimeout(t.Context(), flushTimeout)
		defer cancel()
		if end(ctx); time.Since(began) > flushTimeout {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}

// The same event again is counted, and one that has expired is created again.
func TestRepeatedEventsAreCounted(t *testing.T) {
	e, api := told("")
	write := func() {
		e.tell(named("a"), []reconcile.Event{{Warning: true, Reason: "UpgradeFailed", Message: "no"}})
		e.records.write(t.Context(), <-e.records.queue)
	}
	only := func() corev1.Event {
		list, err := api.CoreV1().Events("apps").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("%d events, %v", len(list.Items), err)
		}
		return list.Items[0]
	}
	write()
	write()
	is := only()
	if is.Count != 2 || is.Type != "Warning" {
		t.Errorf("%+v", is)
	}
	if err := api.CoreV1().Events("apps").Delete(t.Context(), is.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if write(); only().Count != 3 {
		t.Errorf("%+v", only())
	}
}

// deaf is a receiver that takes no notification.
type deaf struct{ asked int }

func (d *deaf) RoundTrip(*http.Request) (*http.Response, error) {
	d.asked++
	return nil, errors.New("connection refused")
}

// A notification that is not delivered is logged once nobody tries any more: after three attempts, or when the
// process ends before.
func TestNotificationsThatAreNotDelivered(t *testing.T) {
	for _, c := range []struct {
		ends, took time.Duration
		asked      int
	}{
		{time.Hour, 3 * time.Second, 3},
		{2 * time.Second, 2 * time.Second, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, _ := told("http://receiver.invalid")
			receiver, log := &deaf{}, &bytes.Buffer{}
			e.client.Transport, e.log = receiver, logr.FromSlogHandler(slog.NewTextHandler(log, nil))
			ctx, cancel := context.WithTimeout(t.Context(), c.ends)
			defer cancel()
			began := time.Now()
			e.send(ctx, notification{Reason: "UpgradeFailed"})
			if took := time.Since(began); took != c.took || receiver.asked != c.asked {
				t.Errorf("%d attempts in %s, want %d in %s", receiver.asked, took, c.asked, c.took)
			}
			if !strings.Contains(log.String(), "notification not delivered") {
				t.Errorf("the log has %q", log)
			}
		})
	}
}
