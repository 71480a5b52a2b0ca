//go:build cluster

package controller_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// requests are those for objects of the rig's namespace with the name that change something, dry
// runs included: as whom they were answered, and by whom they were sent.
func (r *rig) requests(name string) (as, by []string) {
	r.Helper()
	data, err := os.ReadFile(audit)
	if err != nil {
		r.Fatal(err)
	}
	type user struct{ Username string }
	for line := range strings.Lines(string(data)) {
		var e struct {
			Verb             string
			User             user
			ImpersonatedUser *user
			ObjectRef        struct{ Namespace, Name string }
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.ObjectRef.Namespace != r.namespace || e.ObjectRef.Name != name || !slices.Contains([]string{"create", "patch", "update", "delete"}, e.Verb) {
			continue
		}
		by = append(by, e.User.Username)
		if e.ImpersonatedUser != nil {
			as = append(as, e.ImpersonatedUser.Username)
		} else {
			as = append(as, e.User.Username)
		}
	}
	slices.Sort(as)
	slices.Sort(by)
	return slices.Compact(as), slices.Compact(by)
}

// released are objects of a release web of the chart settings: its own, its records, its lock.
var released = []string{"web-settings", "sh.helm.release.v1.web.v1", "sh.helm.release.v1.web.v2", "kubectl-release.web"}

// asOnly holds that all that the release web consists of was written as one user.
func (r *rig) asOnly(user string) {
	r.Helper()
	for _, name := range released {
		if as, _ := r.requests(name); !slices.Equal(as, []string{user}) {
			r.Errorf("%s is written as %q, want %s", name, as, user)
		}
	}
}

// With a ServiceAccount every write and dry run is sent as that one, as the audit log shows:
// objects, records and the lock, of an upgrade and the correction of drift, too. Where it is gone
// when the HelmRelease is deleted, the finalizer goes, and what is left behind is told.
func TestCheck39EveryWriteIsImpersonated(t *testing.T) {
	r := newRig(t)
	r.account("deployer")
	r.publish("app", "1.0.0", settings(""))
	c := r.start()
	r.release("web", "serviceAccountName: deployer, driftDetection: {mode: enabled}")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", settings(""))
	r.ready("web", "1.1.0")
	r.kubectl("patch", "cm", "web-settings", "--as=system:serviceaccount:"+r.namespace+":deployer", "--type=merge", `-p={"data":{"msg":"drift"}}`)
	r.eventually("the change is taken back", func() bool {
		return r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}") == "hello"
	})
	r.asOnly("system:serviceaccount:" + r.namespace + ":deployer")
	r.kubectl("delete", "serviceaccount", "deployer")
	r.kubectl("delete", "hr", "web", "--timeout=60s")
	r.eventually("what is left behind is told", func() bool {
		return strings.Contains(c.log.String(), "UninstallSkipped") && strings.Contains(r.kubectl("get", "events", "-o", "jsonpath={.items[*].message}"), "the release is left behind")
	})
	if got := r.kubectl("get", "cm", "web-settings", "-o", "name"); got == "" {
		t.Error("the release is gone")
	}
}

// account makes a ServiceAccount with what releases of the rig's namespace need.
func (r *rig) account(name string) {
	r.Helper()
	r.kubectl("create", "serviceaccount", name)
	r.kubectl("create", "rolebinding", name, "--clusterrole=admin", "--serviceaccount="+r.namespace+":"+name)
	r.kubectl("create", "role", name, "--verb=*", "--resource=leases.coordination.k8s.io")
	r.kubectl("create", "rolebinding", name+"-leases", "--role="+name, "--serviceaccount="+r.namespace+":"+name)
}

// A ConfigMap of spec.kubeConfig leads to an API server that takes tokens of a ServiceAccount: the
// release and its records are written there by that one, an upgrade and the end included. Another
// provider is refused with the reason, and a ConfigMap that is mended is seen at once.
func TestCheck40KubeconfigOfAConfigMap(t *testing.T) {
	r := newRig(t)
	config := cluster.Config(t)
	authority := string(config.CAData)
	if authority == "" {
		data, err := os.ReadFile(config.CAFile)
		if err != nil {
			t.Fatal(err)
		}
		authority = string(data)
	}
	remote := func(data map[string]string) {
		text, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": "remote", "labels": map[string]string{"reconcile.fluxcd.io/watch": "Enabled"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		cluster.Apply(t, r.namespace, string(text))
	}
	remote(map[string]string{"provider": "aws", "cluster": "arn:aws:eks:eu-central-1:1:cluster/c"})
	r.account("edge")
	r.publish("app", "1.0.0", settings(""))
	c := r.start()
	r.release("web", "kubeConfig: {configMapRef: {name: remote}}")
	r.until("web", "refused", func(hr *flux.HelmRelease) bool {
		ready := flux.Condition(hr.Status.Conditions, "Ready")
		return ready != nil && ready.Reason == "RESTClientError" && strings.Contains(ready.Message, "the provider 'aws' is not supported, only 'generic' is")
	})
	remote(map[string]string{
		"provider": "generic", "address": config.Host, "ca.crt": authority, "serviceAccountName": "edge",
		"audiences": "https://kubernetes.default.svc.cluster.local\n",
	})
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", settings(""))
	r.ready("web", "1.1.0")
	r.kubectl("delete", "hr", "web", "--timeout=60s")
	edge := "system:serviceaccount:" + r.namespace + ":edge"
	r.asOnly(edge)
	if _, by := r.requests(released[0]); !slices.Equal(by, []string{edge}) {
		t.Errorf("requests are sent by %q, want a token of %s", by, edge)
	}
	if got := r.kubectl("get", "cm,secret", "-o", "name"); got != "configmap/kube-root-ca.crt\nconfigmap/remote" {
		t.Errorf("left behind: %s", got)
	}
	c.stop()
	if strings.Contains(c.log.String(), "eyJ") { // how a token begins
		t.Error("the log has a token")
	}
}
