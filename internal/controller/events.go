package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// events reports what happens to HelmReleases, as Kubernetes events and to
// notification-controller, under helm-controller's name.
type events struct {
	// records writes the Kubernetes events.
	records *eventWriter
	// address is the URL at which notification-controller listens; if it is "",
	// nothing is sent there.
	address string
	client  *http.Client
	host    string
	now     func() time.Time
	log     logr.Logger
	queue   chan notification
}

// notification is an event as notification-controller accepts it (fluxcd/pkg
// apis/event/v1.Event).
type notification struct {
	InvolvedObject      corev1.ObjectReference `json:"involvedObject"`
	Severity            string                 `json:"severity"`
	Timestamp           time.Time              `json:"timestamp"`
	Message             string                 `json:"message"`
	Reason              string                 `json:"reason"`
	Metadata            map[string]string      `json:"metadata,omitempty"`
	ReportingController string                 `json:"reportingController"`
	ReportingInstance   string                 `json:"reportingInstance,omitempty"`
}

// maxWaiting is how many events, and how many notifications, may wait for a slow receiver; further
// ones are dropped and logged.
const maxWaiting = 1000

func (e *events) tell(o *helmRelease, told []reconcile.Event) {
	ref := corev1.ObjectReference{
		APIVersion: helmVersion.String(), Kind: flux.KindHelmRelease, Namespace: o.Namespace, Name: o.Name,
		UID: o.UID, ResourceVersion: o.ResourceVersion,
	}
	for _, t := range told {
		kind, severity := corev1.EventTypeNormal, "info"
		if t.Warning {
			kind, severity = corev1.EventTypeWarning, "error"
		}
		e.log.Info(t.Message, "namespace", o.Namespace, "name", o.Name, "reason", t.Reason, "severity", severity)
		e.records.tell(ref, kind, t, e.now())
		if e.address == "" || t.Trace {
			continue
		}
		select {
		case e.queue <- notification{
			InvolvedObject: ref, Severity: severity, Timestamp: e.now().UTC().Truncate(time.Second), Message: t.Message,
			Reason: t.Reason, Metadata: t.Metadata, ReportingController: flux.ControllerName, ReportingInstance: e.host,
		}:
		default:
			e.log.Info("notification dropped: too many are waiting", "reason", t.Reason, "namespace", o.Namespace, "name", o.Name)
		}
	}
}

// flushTimeout is how long what is told may take to be sent once everything else has ended.
const flushTimeout = 5 * time.Second

// start sends what is told, though ctx ends. end sends what still waits, until its ctx ends at most. The manager would stop
// this as a runnable before it stops the passes, which tell something until they end.
func (e *events) start(ctx context.Context) (end func(ctx context.Context)) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ending := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() { forward(sending, ending, e.records.queue, e.records.write) })
	both.Go(func() { forward(sending, ending, e.queue, e.send) })
	return func(ctx context.Context) {
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		close(ending)
		both.Wait()
	}
}

// forward sends what is queued, until it is told to end and nothing is queued, or ctx ends.
func forward[T any](ctx context.Context, ending <-chan struct{}, queue <-chan T, send func(context.Context, T)) {
	for ctx.Err() == nil {
		select {
		case next := <-queue:
			send(ctx, next)
			continue
		default:
		}
		select {
		case next := <-queue:
			send(ctx, next)
		case <-ending:
			if len(queue) == 0 {
				return
			}
		}
	}
}

// send posts a notification, in three attempts at most.
func (e *events) send(ctx context.Context, n notification) {
	data, err := json.Marshal(n)
	if err != nil {
		return // cannot happen: every field can be encoded
	}
	const times = 3
	for tried := 1; ; tried++ {
		if err = e.post(ctx, data); err == nil {
			return
		}
		if tried == times || retry.Pause(ctx, time.Duration(tried)*time.Second) != nil {
			break
		}
	}
	e.log.Error(err, "notification not delivered", "reason", n.Reason)
}

func (e *events) post(ctx context.Context, data []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// With 429, notification-controller says that it has already received this event.
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode != http.StatusTooManyRequests {
		return errStatus(response.Status)
	}
	return nil
}

type errStatus string

func (e errStatus) Error() string { return "the receiver answered " + string(e) }
