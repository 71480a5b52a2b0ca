//go:build cluster

package controller_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// settings returns a chart of one ConfigMap that shows a value.
func settings(extra string) map[string]string {
	return map[string]string{
		"values.yaml":           "msg: hello\n",
		"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-settings}\ndata: {msg: {{ .Values.msg | quote }}, version: {{ .Chart.Version | quote }}" + extra + "}\n",
	}
}

// A HelmRelease is installed, upgraded by a new artifact and by new values, and uninstalled when it is
// deleted.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	c := r.start()
	r.release("web", "")
	r.ready("web", "1.0.0")
	if got := r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.version}"); got != "1.0.0" {
		t.Errorf("version is %q", got)
	}
	r.publish("app", "1.1.0", settings(""))
	r.ready("web", "1.1.0")
	r.release("web", "values: {msg: bye}")
	hr := r.ready("web", "1.1.0")
	if got := r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}"); got != "bye" || hr.Status.History[0].Version != 3 {
		t.Errorf("msg is %q, history %+v", got, hr.Status.History)
	}
	r.eventually("events tell it in helm-controller's name", func() bool {
		events := r.kubectl("get", "events", "-o", `jsonpath={range .items[*]}{.source.component} {.reason} {.metadata.annotations.helm\.toolkit\.fluxcd\.io/revision}{"\n"}{end}`)
		return strings.Contains(events, "helm-controller InstallSucceeded 1.0.0") && strings.Contains(events, "helm-controller UpgradeSucceeded 1.1.0")
	})
	r.remove("web")
	if got := r.kubectl("get", "cm,secret", "-o", "name"); got != "configmap/kube-root-ca.crt" {
		t.Errorf("left behind: %s", got)
	}
	c.stop()
}

// A HelmRelease that is deleted together with its namespace, in which no Lease can be created any more, takes with
// it what its release has elsewhere. A finalizer keeps the namespace controller from deleting the record first.
func TestDeletionWithTheNamespace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", map[string]string{
		"templates/role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: \"{{ .Release.Namespace }}\"}\n",
	})
	r.start("--enable-leader-election=false") // its own lease would be in the namespace
	r.release("web", "")
	r.ready("web", "1.0.0")
	finalizers := func(list string) {
		r.kubectl("patch", "secret", "sh.helm.release.v1.web.v1", "--type=merge", "--patch", `{"metadata":{"finalizers":`+list+`}}`)
	}
	finalizers(`["example.com/test"]`)
	t.Cleanup(func() { finalizers("null") })
	r.kubectl("delete", "namespace", r.namespace, "--wait=false")
	r.eventually("the HelmRelease is gone", func() bool { return r.kubectl("get", "hr", "-o", "name") == "" })
	if got := r.kubectl("get", "clusterrole", r.namespace, "--ignore-not-found", "-o", "name"); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// A chart that does not render is retried again and again, without a record and without a failure that
// counts, until a version of it renders.
func TestCheck36RenderErrorIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	metrics := porttest.FreeAddress(t)
	r.start("--metrics-addr="+metrics, "--min-retry-delay=50ms")
	r.release("web", "")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", map[string]string{"templates/config.yaml": "{{ fail \"not yet\" }}"})
	r.notReady("web", "UpgradeFailed", "templates/config.yaml:1")
	before := passes(t, metrics)
	r.eventually("it is tried again", func() bool { return passes(t, metrics) >= before+3 })
	hr := r.get("web")
	if records := r.kubectl("get", "secrets", "-l", "owner=helm", "-o", "name"); strings.Count(records, "secret/") != 1 || hr.Status.UpgradeFailures != 0 || flux.ConditionTrue(hr.Status.Conditions, "Stalled") {
		t.Errorf("records %s, status %+v", records, hr.Status)
	}
	r.publish("app", "1.2.0", settings(""))
	if hr := r.ready("web", "1.2.0"); hr.Status.History[0].Version != 2 {
		t.Errorf("history %+v", hr.Status.History)
	}
}

// passes returns how many passes a controller has made over its only HelmRelease.
func passes(t testing.TB, metrics string) (n int) {
	t.Helper()
	_, text := fetch(t, metrics, "/metrics")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "gotk_reconcile_duration_seconds_count{"); ok {
			_, count, _ := strings.Cut(strings.TrimSpace(rest), "} ")
			n, _ = strconv.Atoi(count)
		}
	}
	return n
}
