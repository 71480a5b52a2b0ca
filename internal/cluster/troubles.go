package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/apply"
)

// Bounds of what Troubles tells.
const (
	maxTroubles    = 6
	maxTroublePods = 3
)

// Troubles explains why an object is not ready: container states of its pods
// and the last warning events of both. What can't be read is left out.
func (c *Client) Troubles(ctx context.Context, ref apply.Ref) []string {
	lines := c.warningEvents(ctx, ref.Kind, ref.Namespace, ref.Name)
	pods, err := c.podsOf(ctx, ref)
	if err != nil {
		return lines
	}
	told := 0
	for _, pod := range pods {
		states := containerStates(pod)
		events := c.warningEvents(ctx, "Pod", pod.Namespace, pod.Name)
		if len(states)+len(events) == 0 || told == maxTroublePods {
			continue
		}
		told++
		lines = append(lines, states...)
		if ref.Kind != "Pod" {
			lines = append(lines, events...)
		}
	}
	return lines[max(0, len(lines)-maxTroubles):]
}

// warningEvents are an object's last three warnings.
func (c *Client) warningEvents(ctx context.Context, kind, namespace, name string) []string {
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	list, err := c.core.Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.name": name, "involvedObject.kind": kind, "type": corev1.EventTypeWarning}.AsSelector().String(),
	})
	if err != nil {
		return nil
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	var lines []string
	for _, e := range list.Items[max(0, len(list.Items)-3):] {
		lines = append(lines, fmt.Sprintf("%s/%s: %s: %s", kind, name, e.Reason, e.Message))
	}
	return lines
}

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
	selector, ok, err := unstructured.NestedStringMap(owner.Object, "spec", "selector", "matchLabels")
	if err != nil || !ok {
		return nil, err
	}
	list, err := c.core.Pods(ref.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(selector).String()})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func logOptions(container string, lines int64) *corev1.PodLogOptions {
	return &corev1.PodLogOptions{Container: container, TailLines: &lines}
}
