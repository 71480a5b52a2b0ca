package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// events reports what happens to HelmReleases, as Kubernetes events and to
// notification-controller, under helm-controller's name.
type events struct {
	recorder record.EventRecorder
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

// maxWaiting is how many notifications may wait for a slow receiver; further ones are
// dropped and logged.
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
		e.recorder.AnnotatedEventf(&ref, t.Metadata, kind, t.Reason, "%s", t.Message)
		if e.address == "" {
			continue
		}
		select {
		case e.queue <- notification{
			InvolvedObject: ref, Severity: severity, Timestamp: e.now().UTC().Truncate(time.Second), Message: t.Message,
			Reason: t.Reason, Metadata: t.Metadata, ReportingController: fieldManager, ReportingInstance: e.host,
		}:
		default:
			e.log.Info("notification dropped: too many are waiting", "reason", t.Reason, "namespace", o.Namespace, "name", o.Name)
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica sends
// what it has to report.
func (e *events) NeedLeaderElection() bool { return false }

// Start sends notifications until ctx ends, and then those that are already waiting.
func (e *events) Start(ctx context.Context) error {
	for {
		select {
		case n := <-e.queue:
			e.send(context.WithoutCancel(ctx), n)
		case <-ctx.Done():
			for {
				select {
				case n := <-e.queue:
					e.send(context.WithoutCancel(ctx), n)
				default:
					return nil
				}
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
	for tried := 1; tried <= times; tried++ {
		if err = e.post(ctx, data); err == nil {
			return
		}
		if retry.Pause(ctx, time.Duration(tried)*time.Second) != nil {
			return
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
