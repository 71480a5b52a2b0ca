package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-release/kubectl-release/apply"
)

// Bounds of what Diagnose tells.
const (
	maxDiagnostics = 6
	maxTroublePods = 3
	maxEvents      = 3

	troublesTimeout = 15 * time.Second
)

// Diagnose explains why an object is not ready: container states of its pods,
// the last warning events of both, and the end of one troubled container's log.
// Pods of older revisions and events from before since are history, not reasons.
// What can't be read is left out.
func (c *Client) Diagnose(ctx context.Context, ref apply.Ref, since time.Time) apply.Diagnosis {
	ctx, cancel := context.WithTimeout(ctx, troublesTimeout)
	defer cancel()
	events := warner{c, ref.Namespace, since}
	lines := events.about(ctx, ref.Kind, func(name string) bool { return name == ref.Name })
	b, err := c.behind(ctx, ref, since)
	if err != nil || ref.Kind == "Pod" {
		for _, pod := range b.pods {
			lines = append(lines, containerStates(pod)...)
		}
		return apply.Diagnosis{Reasons: last(lines, maxDiagnostics)}
	}
	if b.replicaSet != nil && len(b.pods) == 0 {
		// Why no pod comes into being is told of the ReplicaSet.
		lines = append(lines, events.about(ctx, "ReplicaSet", b.replicaSet)...)
	}
	lines = append(lines, events.ofPods(ctx, b.pods)...)
	for _, pod := range b.inTheWay {
		for _, state := range containerStates(pod) {
			lines = append(lines, state+" (of an earlier revision, and waited for before it is replaced)")
		}
	}
	found := apply.Diagnosis{Reasons: last(lines, maxDiagnostics)}
	if ref.Kind != "Job" { // apply shows its log
		found.Log = c.failingContainerLog(ctx, b.pods)
	}
	return found
}

// warner reads the warning events of a namespace that were last seen at since or
// after.
type warner struct {
	*Client
	namespace string
	since     time.Time
}

// ofPods are the states and events of the first few pods that have any.
func (w warner) ofPods(ctx context.Context, pods []corev1.Pod) []string {
	var lines []string
	troubled := map[string]bool{}
	for _, pod := range pods {
		states := containerStates(pod)
		if len(states) == 0 || len(troubled) == maxTroublePods {
			continue
		}
		troubled[pod.Name] = true
		lines = append(lines, states...)
	}
	if len(troubled) == 0 {
		return lines
	}
	return append(lines, w.about(ctx, "Pod", func(name string) bool { return troubled[name] })...)
}

// about are the last three warnings about objects of a kind, newest last: one
// request, however many objects there are.
func (w warner) about(ctx context.Context, kind string, which func(name string) bool) []string {
	namespace := w.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	var list *corev1.EventList
	err := w.read(ctx, func(ctx context.Context) (err error) {
		list, err = w.core.Events(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: fields.Set{"involvedObject.kind": kind, "type": corev1.EventTypeWarning}.AsSelector().String(),
		})
		return err
	})
	if err != nil {
		return nil
	}
	events := slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		return !which(e.InvolvedObject.Name) || happened(e).Before(w.since)
	})
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return happened(a).Compare(happened(b)) })
	var lines []string
	for _, e := range last(events, maxEvents) {
		lines = append(lines, fmt.Sprintf("%s/%s: %s: %s", kind, e.InvolvedObject.Name, e.Reason, strings.TrimSpace(e.Message)))
	}
	return lines
}

// happened is when an event was last seen; old and new recorders write it down
// in different places.
func happened(e corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}

func last[T any](items []T, n int) []T { return items[max(0, len(items)-n):] }

// containerStates are the states of containers that are not running well.
func containerStates(pod corev1.Pod) []string {
	var lines []string
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			line := fmt.Sprintf("Pod/%s: container %s is waiting: %s", pod.Name, s.Name, s.State.Waiting.Reason)
			if s.RestartCount > 0 {
				line += fmt.Sprintf(" after %d restarts", s.RestartCount)
			}
			lines = append(lines, line)
		case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
			lines = append(lines, fmt.Sprintf("Pod/%s: container %s ended with exit code %d", pod.Name, s.Name, s.State.Terminated.ExitCode))
		case !s.Ready && s.State.Running != nil:
			lines = append(lines, fmt.Sprintf("Pod/%s: container %s is running and not ready", pod.Name, s.Name))
		}
	}
	if len(lines) == 0 && pod.Status.Phase == corev1.PodPending {
		lines = append(lines, fmt.Sprintf("Pod/%s: it is pending", pod.Name))
	}
	return lines
}
