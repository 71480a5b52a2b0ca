package cluster

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
)

// Limits for the diagnosis of one object.
const (
	maxReasons = 6
	maxEvents  = 3

	troublesTimeout = 15 * time.Second
)

// reasons returns why an object is not ready: the states of its pods and their containers, and the
// last warning events about all of these, grouped by cause. pods are those of its newest revision.
// Older events do not count, nor do pods of older revisions, unless the newest has to wait for them.
// What can't be read is omitted.
func (s *survey) reasons(ctx context.Context, a apply.Asked) (reasons []apply.Reason, pods []corev1.Pod) {
	events := warner{s, a.Namespace, a.Since}
	found := events.about(ctx, a.Kind, func(name string) bool { return name == a.Name })
	b, err := s.findPods(ctx, a)
	if err != nil {
		return last(apply.Grouped(found), maxReasons), nil
	}
	if b.replicaSet != nil {
		// Events about pods that can't be created are recorded for the ReplicaSet.
		found = append(found, events.about(ctx, "ReplicaSet", b.replicaSet)...)
	}
	troubled := map[string]bool{}
	for _, pod := range b.pods {
		if states := podStates(pod); len(states) > 0 {
			troubled[pod.Name] = true
			found = append(found, states...)
		}
	}
	if len(troubled) > 0 && a.Kind != "Pod" {
		found = append(found, events.about(ctx, "Pod", func(name string) bool { return troubled[name] })...)
	}
	for _, pod := range b.inTheWay {
		for _, state := range podStates(pod) {
			state.Cause += " (pod of an earlier revision; the controller waits for it before replacing it)"
			found = append(found, state)
		}
	}
	return last(apply.Grouped(found), maxReasons), b.pods
}

// warner reads the warning events of a namespace that were last seen no earlier than since.
type warner struct {
	*survey
	namespace string
	since     time.Time
}

// about returns the last few warnings about objects of a kind, newest last.
func (w warner) about(ctx context.Context, kind string, which func(name string) bool) []apply.Reason {
	namespace := w.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	all, err := w.warnings(ctx, kind, namespace)
	if err != nil {
		return nil
	}
	var events []corev1.Event
	for _, e := range all {
		if which(e.InvolvedObject.Name) && !happened(e).Before(w.since) {
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return happened(a).Compare(happened(b)) })
	var reasons []apply.Reason
	for _, e := range events {
		reasons = append(reasons, apply.Reason{
			Of: []string{kind + "/" + e.InvolvedObject.Name}, Trouble: true,
			Cause: e.Reason + ": " + withoutNames(strings.TrimSpace(e.Message)),
		})
	}
	return last(apply.Grouped(reasons), maxEvents)
}

// withoutNames removes from an event's message the names that make it differ from others about the same cause.
func withoutNames(message string) string {
	return refusedPod.ReplaceAllString(ownName.ReplaceAllString(message, ""), `$1"`)
}

// ownName matches the pod's name in the kubelet's messages, which repeat it: " in pod
// web-1_shop(4f3c…)".
var ownName = regexp.MustCompile(` in pod \S+_\S+\([-0-9a-f]+\)`)

// refusedPod matches the name of a pod that could not be created: each attempt has another, of which only
// the first part says anything. The name ends with five random characters (Kubernetes 1.36,
// staging/src/k8s.io/apiserver/pkg/storage/names/generate.go); after many attempts client-go says that
// events are similar (tools/record/events_cache.go, EventAggregatorByReasonMessageFunc).
var refusedPod = regexp.MustCompile(`^(?:\(combined from similar events\): )?(Error creating: pods "\S+-)[0-9a-z]{5}"`)

// happened returns when an event was last seen; old and new recorders set different fields
// (k8s.io/api/core/v1/types.go, Event).
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

// podStates returns the states of a pod's containers that are not running well or, if there are
// none, the state of a pod that has failed or has not started.
func podStates(pod corev1.Pod) []apply.Reason {
	var out []apply.Reason
	add := func(trouble bool, format string, args ...any) *apply.Reason {
		out = append(out, apply.Reason{Of: []string{"Pod/" + pod.Name}, Cause: fmt.Sprintf(format, args...), Trouble: trouble})
		return &out[len(out)-1]
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			state := s.State.Waiting
			r := add(state.Reason != "ContainerCreating" && state.Reason != "PodInitializing", "container %s is waiting: %s", s.Name, state.Reason)
			if r.Restarts = int(s.RestartCount); r.Restarts == 0 && state.Message != "" {
				r.Cause += ": " + state.Message
			}
		case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
			add(true, "container %s ended with exit code %d", s.Name, s.State.Terminated.ExitCode)
		case !s.Ready && s.State.Running != nil:
			add(false, "container %s is running but not ready", s.Name)
		}
	}
	switch scheduled := scheduling(pod); {
	case len(out) > 0:
	case scheduled.Status == corev1.ConditionFalse:
		add(true, "FailedScheduling: %s", scheduled.Message)
	case pod.Status.Phase == corev1.PodFailed:
		add(true, "it has failed: %s", strings.TrimSpace(pod.Status.Reason+" "+pod.Status.Message))
	case pod.Status.Phase == corev1.PodPending:
		add(false, "it is pending")
	}
	return out
}

func scheduling(pod corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c
		}
	}
	return corev1.PodCondition{}
}
