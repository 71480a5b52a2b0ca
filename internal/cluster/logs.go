package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-release/kubectl-release/apply"
)

// Limits for Logs: an unreachable node must not delay a run, and containers that write without
// line breaks must not fill up memory.
const (
	logTimeout = 15 * time.Second
	maxLogSize = 1 << 20
)

// Logs reads the last lines, or all if lines is 0, of every container of a pod, or of the pods of a Job,
// oldest pod first; of more than 1 MiB in all it reads the beginning, and says so. If there are several
// containers, a line with the name precedes each log. It returns an error only when nothing could be
// read.
func (c *Client) Logs(ctx context.Context, ref apply.Ref, lines int64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	_, pods, err := c.survey(false).podsOf(ctx, apply.Asked{Ref: ref})
	if err != nil {
		return "", fmt.Errorf("find the pods of %s: %w", ref.ID, c.explain(err))
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	type part struct{ name, text string }
	var parts []part
	var errs []error
	left := int64(maxLogSize)
	for _, pod := range pods {
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if left <= 0 {
				continue
			}
			text, err := c.containerLog(ctx, pod, corev1.PodLogOptions{Container: container.Name}, lines, left)
			left -= int64(len(text))
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("read the log of Pod/%s, container %s: %w", pod.Name, container.Name, err))
			case text != "":
				parts = append(parts, part{"Pod/" + pod.Name + ", container " + container.Name, text})
			}
		}
	}
	if len(parts) == 0 {
		return "", errors.Join(errs...)
	}
	if len(parts) == 1 {
		return parts[0].text, nil
	}
	var out strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&out, "%s:\n%s", p.name, p.text)
		if !strings.HasSuffix(p.text, "\n") {
			out.WriteByte('\n')
		}
	}
	return out.String(), nil
}

// containerLog reads a log, or its last lines; of limit bytes or more it reads the beginning, and says so.
func (c *Client) containerLog(ctx context.Context, pod corev1.Pod, options corev1.PodLogOptions, lines, limit int64) (string, error) {
	options.LimitBytes = &limit
	if lines > 0 {
		options.TailLines = &lines
	}
	stream, err := c.core.Pods(pod.Namespace).GetLogs(pod.Name, &options).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	text, err := io.ReadAll(io.LimitReader(stream, limit))
	if int64(len(text)) == limit {
		return string(text) + "\n(the rest of the log is not shown)", err
	}
	return string(text), err
}
