//go:build cluster

package controller_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Check 40, with two clusters: a Secret in spec.kubeConfig points to the other one. The release and its
// records are there and nowhere else, through an upgrade, a correction of drift and the uninstall;
// values come from here. A kubeconfig that runs a program is refused.
func TestCheck40TwoClusters(t *testing.T) {
	t.Parallel()
	other, err := clustertest.Start(t.Context(), clustertest.Options{Nodes: 1, Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Stop(); err != nil {
			t.Error(err)
		}
	})
	if other.Kubeconfig == cluster.Kubeconfig {
		t.Skip("a cluster that is used again is one")
	}
	r := newRig(t)
	other.Kubectl(t, "create", "namespace", r.namespace)
	there := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(other.Kubectl(t, append([]string{"-n", r.namespace}, args...)...))
	}
	secret := func(name string, data map[string]string) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": data})
		if err != nil {
			t.Fatal(err)
		}
		cluster.Apply(t, r.namespace, string(text))
	}
	secret("values", map[string]string{"values.yaml": "msg: of here"})
	other.Apply(t, r.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values.yaml: 'msg: of there'}}")
	secret("remote", map[string]string{"value": other.Kubectl(t, "config", "view", "--raw", "--flatten")})
	secret("program", map[string]string{"value": `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}],
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "true", interactiveMode: Never}}}]}`})
	r.publish("app", "1.0.0", settings(""))
	r.start()
	r.release("refused", "kubeConfig: {secretRef: {name: program}}")
	r.release("web", "kubeConfig: {secretRef: {name: remote}}, driftDetection: {mode: enabled}, valuesFrom: [{kind: Secret, name: values}]")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", settings(""))
	r.ready("web", "1.1.0")
	there("patch", "cm", "web-settings", "--type=merge", `-p={"data":{"msg":"by hand"}}`)
	r.kubectl("annotate", "hr", "web", "reconcile.fluxcd.io/requestedAt=1") // objects of other clusters are not watched
	r.eventually("drift is corrected", func() bool {
		return there("get", "cm", "web-settings", "-o", "jsonpath={.data.msg} {.data.version}") == "of here 1.1.0"
	})
	if got := there("get", "secrets", "-l", "owner=helm", "-o", "jsonpath={.items[*].metadata.labels.status}"); got != "superseded deployed" {
		t.Errorf("records there are %q", got)
	}
	const kinds = "configmaps,leases,secrets"
	if got := r.kubectl("get", kinds, "-o", "name"); strings.Contains(got, "web") {
		t.Errorf("here is %s", got)
	}
	r.until("refused", "refused", func(hr *flux.HelmRelease) bool {
		ready := flux.Condition(hr.Status.Conditions, "Ready")
		return ready != nil && ready.Status == "False" && strings.Contains(ready.Message, "runs a program, which is not allowed")
	})
	r.remove("web")
	if got := there("get", "configmaps,secrets", "-o", "name"); got != "configmap/kube-root-ca.crt\nsecret/values" {
		t.Errorf("left behind there: %s", got)
	}
}
