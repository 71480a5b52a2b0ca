//go:build cluster

package controller_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// requests returns, for all requests that change objects of the given name in the rig's namespace, dry
// runs included, as whom they were answered and by whom they were sent.
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

// released are the objects of a release web of the settings chart: its own, its records, its lock.
var released = []string{"web-settings", "sh.helm.release.v1.web.v1", "sh.helm.release.v1.web.v2", "kubectl-release.web"}

// asOnly checks that everything that the release web consists of was written as one user.
func (r *rig) asOnly(user string) {
	r.Helper()
	for _, name := range released {
		if as, _ := r.requests(name); !slices.Equal(as, []string{user}) {
			r.Errorf("%s is written as %q, want %s", name, as, user)
		}
	}
}

// write is a request of a controller that writes, including dry runs and access reviews.
type write struct {
	verb, group, resource, name string
	// as is the impersonated user, "" for the controller itself.
	as string
}

// writesSince returns the writes of controllers after the given line of the audit log.
func writesSince(t testing.TB, line int) (out []write) {
	t.Helper()
	data, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimSpace(string(data)), "\n")[line:] {
		var e struct {
			Verb, UserAgent  string
			ImpersonatedUser struct{ Username string }
			ObjectRef        struct{ APIGroup, Resource, Name string }
		}
		if json.Unmarshal([]byte(text), &e) != nil || !controllers.MatchString(e.UserAgent) || slices.Contains([]string{"get", "list", "watch"}, e.Verb) {
			continue
		}
		o := e.ObjectRef
		out = append(out, write{e.Verb, o.APIGroup, o.Resource, o.Name, e.ImpersonatedUser.Username})
	}
	return out
}

// own reports whether a write is one that the controller makes in its own name: of HelmReleases and
// their status, of sources, of events and of the leader's lease.
func (w write) own() bool {
	return w.group == flux.HelmGroup && w.resource == "helmreleases" || w.group == flux.SourceGroup || w.resource == "events" ||
		w.resource == "leases" && w.name == "helm-controller-leader-election"
}

// With a ServiceAccount, every write and dry run except the controller's own is sent as that account,
// as the audit log shows: objects, CRDs, hooks, records and the lock, in an install, an upgrade, the
// correction of drift and an uninstall. If the account is gone when the HelmRelease is deleted, the
// finalizer is removed, and what is left behind is reported.
func TestCheck39EveryWriteIsImpersonated(t *testing.T) {
	r := newRig(t)
	r.account("deployer")
	r.kubectl("create", "clusterrole", r.namespace, "--verb=*", "--resource=customresourcedefinitions.apiextensions.k8s.io")
	r.kubectl("create", "clusterrolebinding", r.namespace, "--clusterrole="+r.namespace, "--serviceaccount="+r.namespace+":deployer")
	group := r.namespace + ".example.com"
	t.Cleanup(func() {
		cluster.Kubectl(t, "delete", "--ignore-not-found", "clusterrole/"+r.namespace, "clusterrolebinding/"+r.namespace, "crd/widgets."+group)
	})
	files := settings("")
	files["crds/widget.yaml"] = fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, group)
	files["templates/hook.yaml"] = `
apiVersion: batch/v1
kind: Job
metadata:
  name: hook
  annotations: {helm.sh/hook: "pre-install,pre-upgrade,pre-delete", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: hook, image: hook}]}}}
`
	from := lines(t, audit)
	r.publish("app", "1.0.0", files)
	c := r.start()
	r.release("web", "serviceAccountName: deployer, driftDetection: {mode: enabled}")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", files)
	r.ready("web", "1.1.0")
	r.kubectl("patch", "cm", "web-settings", "--as=system:serviceaccount:"+r.namespace+":deployer", "--type=merge", `-p={"data":{"msg":"drift"}}`)
	r.eventually("the change is taken back", func() bool {
		return r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}") == "hello"
	})
	r.asOnly("system:serviceaccount:" + r.namespace + ":deployer")
	r.remove("web")
	if got := r.kubectl("get", "cm,job,secret", "-o", "name"); got != "configmap/kube-root-ca.crt" {
		t.Errorf("left behind: %s", got)
	}
	seen := map[string]bool{}
	for _, w := range writesSince(t, from) {
		seen[w.verb+" "+w.resource] = true
		if want := "system:serviceaccount:" + r.namespace + ":deployer"; !w.own() && w.as != want {
			t.Errorf("not sent as the ServiceAccount: %+v", w)
		}
	}
	for _, want := range []string{
		"patch customresourcedefinitions", "create jobs", "delete jobs", "patch configmaps", "delete configmaps",
		"create secrets", "update secrets", "delete secrets", "create leases", "delete leases",
	} {
		if !seen[want] {
			t.Errorf("there is no %s among %q", want, slices.Sorted(maps.Keys(seen)))
		}
	}
	r.publish("app", "1.2.0", settings(""))
	r.release("web", "serviceAccountName: deployer")
	r.ready("web", "1.2.0")
	r.kubectl("delete", "serviceaccount", "deployer")
	r.remove("web")
	r.eventually("what is left behind is told", func() bool {
		return strings.Contains(c.log.String(), "UninstallSkipped") && strings.Contains(r.kubectl("get", "events", "-o", "jsonpath={.items[*].message}"), "the release is left behind")
	})
	if got := r.kubectl("get", "cm", "web-settings", "-o", "name"); got == "" {
		t.Error("the release is gone")
	}
}

// account creates a ServiceAccount with what releases in the rig's namespace need.
func (r *rig) account(name string) {
	r.Helper()
	r.kubectl("create", "serviceaccount", name)
	r.kubectl("create", "rolebinding", name, "--clusterrole=admin", "--serviceaccount="+r.namespace+":"+name)
	r.kubectl("create", "role", name, "--verb=*", "--resource=leases.coordination.k8s.io")
	r.kubectl("create", "rolebinding", name+"-leases", "--role="+name, "--serviceaccount="+r.namespace+":"+name)
}

// A ConfigMap in spec.kubeConfig points to an API server that takes tokens of a ServiceAccount: the
// release and its records are written there by that account, including an upgrade and the uninstall.
// Another provider is refused with the reason, and a corrected ConfigMap is seen immediately.
func TestCheck40KubeconfigOfAConfigMap(t *testing.T) {
	t.Parallel()
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
	r.remove("web")
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
