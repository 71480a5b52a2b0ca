package controller

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// eventWriter writes Kubernetes events as client-go's broadcaster does, aggregated and limited per
// object. The broadcaster itself drops what is waiting when it is shut down.
type eventWriter struct {
	events     corev1client.EventsGetter
	correlator *record.EventCorrelator
	queue      chan *corev1.Event
	log        logr.Logger
}

// tell queues an event about an object.
func (w *eventWriter) tell(about corev1.ObjectReference, kind string, t reconcile.Event, at time.Time) {
	now := metav1.NewTime(at)
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: about.Namespace, Name: util.GenerateEventName(about.Name, at.UnixNano()), Annotations: t.Metadata},
		InvolvedObject: about, Type: kind, Reason: t.Reason, Message: t.Message, FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: flux.ControllerName}, ReportingController: flux.ControllerName,
	}
	select {
	case w.queue <- event:
	default:
		w.log.Info("event dropped: too many are waiting", "reason", t.Reason, "namespace", about.Namespace, "name", about.Name)
	}
}

// As client-go does.
const (
	eventTries = 12
	eventPause = 10 * time.Second
)

// write creates the event, or counts it as another one of the same kind. It tries again if the API server
// does not answer.
func (w *eventWriter) write(ctx context.Context, event *corev1.Event) {
	is, err := w.correlator.EventCorrelate(event)
	if err != nil || is.Skip {
		return
	}
	for range eventTries {
		var written *corev1.Event
		if written, err = w.once(ctx, is); err == nil {
			w.correlator.UpdateState(written)
			return
		}
		if answered := apierrors.APIStatus(nil); errors.As(err, &answered) || retry.Pause(ctx, eventPause) != nil {
			break
		}
	}
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		w.log.Error(err, "event not written", "reason", event.Reason, "namespace", event.Namespace, "name", event.InvolvedObject.Name)
	}
}

func (w *eventWriter) once(ctx context.Context, is *record.EventCorrelateResult) (*corev1.Event, error) {
	in := w.events.Events(is.Event.Namespace)
	if is.Event.Count > 1 {
		written, err := in.PatchWithEventNamespaceWithContext(ctx, is.Event, is.Patch)
		if !apierrors.IsNotFound(err) {
			return written, err
		}
		is.Event.ResourceVersion = "" // it has expired
	}
	return in.CreateWithEventNamespaceWithContext(ctx, is.Event)
}
