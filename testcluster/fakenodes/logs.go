package fakenodes

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// LogsKey is the annotation with the text that each container of a pod logs.
const LogsKey = "testcluster.kubectl-release.dev/logs"

// ServeLogs answers the API server's requests for pod logs, on a port of the
// loopback address that it returns, until ctx ends. Following a log stops at its
// current end.
func ServeLogs(ctx context.Context, client kubernetes.Interface, certificate tls.Certificate) (int32, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("listen as a kubelet: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		answerLogs(w, r, client)
	})
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.ServeTLS(listener, "", "") }()
	return int32(listener.Addr().(*net.TCPAddr).Port), nil
}

func answerLogs(w http.ResponseWriter, r *http.Request, client kubernetes.Interface) {
	namespace, name, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	pod, err := client.CoreV1().Pods(namespace).Get(r.Context(), name, metav1.GetOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if pod.Status.Phase == corev1.PodPending {
		http.Error(w, fmt.Sprintf("container %q in pod %q is waiting to start", container, name), http.StatusBadRequest)
		return
	}
	text := lastLines(logText(pod, container), r.URL.Query().Get("tailLines"))
	if limit, err := strconv.Atoi(r.URL.Query().Get("limitBytes")); err == nil {
		text = text[:min(limit, len(text))]
	}
	// A client that is gone needs no response.
	_, _ = fmt.Fprint(w, text)
}

// logText returns what a container has logged: the text in the pod's annotation, or
// one that fits its behaviour.
func logText(pod *corev1.Pod, container string) string {
	if text, found := pod.Annotations[LogsKey]; found {
		return strings.TrimSuffix(text, "\n") + "\n"
	}
	switch Behaviour(pod.Annotations, pod.Labels) {
	case "crash", "fail":
		return container + ": started\n" + container + ": fatal: told to " + Behaviour(pod.Annotations, pod.Labels) + "\n"
	case "never-ready":
		return container + ": started\n" + container + ": not ready\n"
	default:
		return container + ": started\n" + container + ": ready\n"
	}
}

// lastLines returns the last count lines of text, or all if count is not a number.
func lastLines(text, count string) string {
	n, err := strconv.Atoi(count)
	if err != nil {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
