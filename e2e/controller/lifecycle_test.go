//go:build cluster

package controller_test

import (
	"strings"
	"testing"
)

// settings is a chart of one ConfigMap that shows a value.
func settings(extra string) map[string]string {
	return map[string]string{
		"values.yaml":           "msg: hello\n",
		"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-settings}\ndata: {msg: {{ .Values.msg | quote }}, version: {{ .Chart.Version | quote }}" + extra + "}\n",
	}
}

// A HelmRelease is installed, upgraded by a new artifact and by new values, and
// uninstalled when it goes.
func TestLifecycle(t *testing.T) {
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
	r.kubectl("delete", "hr", "web", "--timeout=60s")
	if got := r.kubectl("get", "cm,secret", "-o", "name"); got != "configmap/kube-root-ca.crt" {
		t.Errorf("left behind: %s", got)
	}
	c.stop()
}
