package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-release/kubectl-release/apply"
)

// Bounds of what Troubles tells.
const (
	maxTroubles    = 6
	maxTroublePods = 3
	maxEvents      = 3

	troublesTimeout = 15 * time.Second
)

// Troubles explains why an object is not ready: container states of its pods,
// the last warning events of both, and the end of one troubled container's log.
// What can't be read is left out.
func (c *Client) Troubles(ctx context.Context, ref apply.Ref) []string {
	ctx, cancel := context.WithTimeout(ctx, troublesTimeout)
	defer cancel()
	lines := c.warnings(ctx, ref.Kind, ref.Namespace, func(name string) bool { return name == ref.Name })
	pods, err := c.podsOf(ctx, ref)
	if err != nil || ref.Kind == "Pod" {
		for _, pod := range pods {
			lines = append(lines, containerStates(pod)...)
		}
		return last(lines, maxTroubles)
	}
	if ref.Kind == "Deployment" && len(pods) == 0 {
		// Why no pod comes into being is told of the ReplicaSets.
		lines = append(lines, c.warnings(ctx, "ReplicaSet", ref.Namespace, func(name string) bool {
			return strings.HasPrefix(name, ref.Name+"-")
		})...)
	}
	lines = last(append(lines, c.podTroubles(ctx, ref.Namespace, pods)...), maxTroubles)
	if ref.Kind == "Job" { // apply shows its log
		return lines
	}
	return append(lines, c.lastWords(ctx, pods)...)
}

// podTroubles are the states and events of the first few pods that have any.
func (c *Client) podTroubles(ctx context.Context, namespace string, pods []corev1.Pod) []string {
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
	return append(lines, c.warnings(ctx, "Pod", namespace, func(name string) bool { return troubled[name] })...)
}

// warnings are the last three warnings about objects of a kind, newest last:
// one request, however many objects there are.
func (c *Client) warnings(ctx context.Context, kind, namespace string, about func(name string) bool) []string {
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	list, err := c.core.Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.kind": kind, "type": corev1.EventTypeWarning}.AsSelector().String(),
	})
	if err != nil {
		return nil
	}
	events := slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return !about(e.InvolvedObject.Name) })
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

// podsOf finds the pods behind an object by the selector of its spec.
func (c *Client) podsOf(ctx context.Context, ref apply.Ref) ([]corev1.Pod, error) {
	if ref.Kind == "Pod" {
		pod, err := c.core.Pods(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return []corev1.Pod{*pod}, nil
	}
	owner, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	selector := selectorOf(owner)
	if selector.Empty() {
		return nil, nil
	}
	list, err := c.core.Pods(ref.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String(), Limit: pageSize})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// selectorOf is the selector of an object's pods: that of spec.selector with
// matchLabels and matchExpressions, or as a plain map (ReplicationController,
// Service). It is empty where there is none.
func selectorOf(owner *unstructured.Unstructured) labels.Selector {
	raw, ok, _ := unstructured.NestedMap(owner.Object, "spec", "selector")
	if !ok {
		return labels.Everything()
	}
	if plain, ok, err := unstructured.NestedStringMap(owner.Object, "spec", "selector"); ok && err == nil {
		return labels.SelectorFromSet(plain)
	}
	var typed metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &typed); err != nil {
		return labels.Everything()
	}
	selector, err := metav1.LabelSelectorAsSelector(&typed)
	if err != nil {
		return labels.Everything()
	}
	return selector
}
