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
// oldest pod first. More than 1 MiB in all is not read: the newest pods come first, in each its init containers last,
// of the log that reaches the limit the beginning is read, and the result says what is left out. If there are several
// containers, a line with the name precedes each log. It returns an error only when nothing could be read.
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
	logs := logReader{client: c, lines: lines, left: maxLogSize}
	for _, pod := range slices.Backward(pods) {
		logs.read(ctx, pod)
	}
	return logs.result()
}

// logReader reads the logs of pods, newest pod first, until their limit is reached.
type logReader struct {
	client *Client
	lines  int64
	// left is how many bytes may still be read, skipped how many containers were not read for lack of them.
	left    int64
	skipped int
	// parts are the logs that have been read, oldest pod first.
	parts []logPart
	errs  []error
}

type logPart struct{ name, text string }

// read reads the logs of a pod, those of its init containers last: they may write much, and say less.
func (l *logReader) read(ctx context.Context, pod corev1.Pod) {
	containers := l.each(ctx, pod, pod.Spec.Containers)
	l.parts = slices.Concat(l.each(ctx, pod, pod.Spec.InitContainers), containers, l.parts)
}

// each reads the logs of some of a pod's containers.
func (l *logReader) each(ctx context.Context, pod corev1.Pod, containers []corev1.Container) (parts []logPart) {
	for _, container := range containers {
		if l.left <= 0 {
			l.skipped++
			continue
		}
		text, err := l.client.containerLog(ctx, pod, corev1.PodLogOptions{Container: container.Name}, l.lines, l.left)
		l.left -= int64(len(text))
		switch {
		case err != nil:
			l.errs = append(l.errs, fmt.Errorf("read the log of Pod/%s, container %s: %w", pod.Name, container.Name, err))
		case text != "":
			parts = append(parts, logPart{"Pod/" + pod.Name + ", container " + container.Name, text})
		}
	}
	return parts
}

func (l *logReader) result() (string, error) {
	if len(l.parts) == 0 {
		return "", errors.Join(l.errs...)
	}
	if len(l.parts) == 1 && l.skipped == 0 {
		return l.parts[0].text, nil
	}
	var out strings.Builder
	switch l.skipped {
	case 0:
	case 1:
		out.WriteString("(1 more container is not shown)\n")
	default:
		fmt.Fprintf(&out, "(%d more containers are not shown)\n", l.skipped)
	}
	for _, p := range l.parts {
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
