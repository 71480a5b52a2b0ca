//go:build cluster

package controller_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// The content of a Secret appears only where the chart puts it: not in the status, an event, a line of
// the log at any level, a notification or the metrics, although the API server and a template quote it
// in errors, and a hook logs it.
func TestCheck45Canary(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t-canary-value"
	r := newRig(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	metrics := listener.Addr().String()
	_ = listener.Close()
	chart := func(template string) map[string]string {
		return map[string]string{"templates/it.yaml": template}
	}
	cluster.Apply(t, r.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values.yaml: 'password: "+canary+"'}}")
	r.publish("app", "1.0.0", chart("apiVersion: v1\nkind: Secret\nmetadata: {name: own}\nstringData: {password: {{ .Values.password }}}\n"))
	notifications := &safeBuffer{}
	receiver := r.serveNotifications(notifications)
	c := r.start("--log-level=debug", "--metrics-addr="+metrics, "--events-addr="+receiver)
	r.release("web", "driftDetection: {mode: warn}, valuesFrom: [{kind: Secret, name: values}]")
	r.ready("web", "1.0.0")

	// The API server quotes the value that it refuses.
	r.publish("app", "1.1.0", chart("apiVersion: v1\nkind: Service\nmetadata: {name: own}\nspec: {ports: [{port: 80, protocol: {{ .Values.password }}}]}\n"))
	r.notReady("web", "UpgradeFailed", "Service")
	// A template quotes it.
	r.publish("app", "1.2.0", chart("{{ fail (print \"it is \" .Values.password) }}"))
	r.notReady("web", "UpgradeFailed", "it is ")
	// A hook that fails logs it.
	r.publish("app", "1.2.1", chart(`apiVersion: batch/v1
kind: Job
metadata: {name: check, annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-output-log-policy: "hook-failed,hook-succeeded"}}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {testcluster.kubectl-release.dev/behave: fail, testcluster.kubectl-release.dev/logs: "connected with {{ .Values.password }}"}}
    spec: {restartPolicy: Never, containers: [{name: check, image: check}]}
`))
	r.notReady("web", "UpgradeFailed", "check")
	if log := r.kubectl("logs", "-l", "job-name=check"); !strings.Contains(log, canary) {
		t.Errorf("the hook logs %q", log)
	}
	// Drift of it is reported.
	r.publish("app", "1.3.0", chart("apiVersion: v1\nkind: Secret\nmetadata: {name: own}\nstringData: {password: {{ .Values.password }}, more: x}\n"))
	r.ready("web", "1.3.0")
	r.kubectl("patch", "secret", "own", "-p", `{"stringData": {"password": "by hand"}}`)
	r.kubectl("annotate", "hr", "web", "reconcile.fluxcd.io/requestedAt=1")
	r.until("web", "told of drift", func(hr *flux.HelmRelease) bool { return flux.ConditionTrue(hr.Status.Conditions, "Drifted") })

	answer, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.eventually("notifications arrive", func() bool { return strings.Contains(notifications.String(), "DriftDetected") })
	for where, text := range map[string]string{
		"the HelmRelease": r.kubectl("get", "hr", "web", "-o", "json"), "events": r.kubectl("get", "events", "-o", "json"),
		"the log": c.log.String(), "metrics": string(told), "notifications": notifications.String(),
	} {
		for _, line := range strings.Split(text, "\n") {
			if strings.Contains(line, canary) || strings.Contains(line, "czNjcjN0LWNhbmFyeS12YWx1") {
				t.Errorf("%s: %s", where, line)
			}
		}
	}
}

// serveNotifications keeps what a controller sends to notification-controller.
func (r *rig) serveNotifications(into io.Writer) (url string) {
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		data, _ := io.ReadAll(q.Body)
		fmt.Fprintf(into, "%s\n", data)
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	r.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}
