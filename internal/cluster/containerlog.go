package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-release/kubectl-release/apply"
)

// Limits for the end of a log that explains why an object is not ready.
const (
	containerLogLines = 5
	containerLogWidth = 400
)

// failingContainerLog returns the end of the log of the first container that has run and is
// failing. If a restarted container has not logged anything yet, it is the log of the previous run.
func (c *Client) failingContainerLog(ctx context.Context, pods []corev1.Pod) apply.Log {
	for _, pod := range pods {
		for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if !unwell(s) {
				continue
			}
			text, err := c.containerLog(ctx, pod, corev1.PodLogOptions{Container: s.Name}, containerLogLines, maxLogSize)
			if (err != nil || strings.TrimSpace(text) == "") && s.RestartCount > 0 {
				text, err = c.containerLog(ctx, pod, corev1.PodLogOptions{Container: s.Name, Previous: true}, containerLogLines, maxLogSize)
			}
			if err != nil || strings.TrimSpace(text) == "" {
				return apply.Log{}
			}
			log := apply.Log{Of: fmt.Sprintf("Pod/%s, container %s", pod.Name, s.Name)}
			for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
				log.Lines = append(log.Lines, shortened(line))
			}
			return log
		}
	}
	return apply.Log{}
}

// unwell reports whether a container has run and has failed or is not ready.
func unwell(s corev1.ContainerStatus) bool {
	switch {
	case s.State.Terminated != nil:
		return s.State.Terminated.ExitCode != 0
	case s.State.Waiting != nil:
		return s.RestartCount > 0
	default:
		return s.State.Running != nil && !s.Ready
	}
}

func shortened(line string) string {
	if runes := []rune(line); len(runes) > containerLogWidth {
		return string(runes[:containerLogWidth]) + "…"
	}
	return line
}
