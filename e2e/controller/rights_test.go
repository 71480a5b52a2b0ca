//go:build cluster

package controller_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// as returns an environment whose kubeconfig has only the rights of a ServiceAccount in the rig's
// namespace, by one of its tokens.
func (r *rig) as(account string) []string {
	r.Helper()
	config := cluster.Config(r.TB)
	file := filepath.Join(r.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: r.kubectl("create", "token", account)}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: r.namespace}},
		CurrentContext: "x",
	}, file)
	if err != nil {
		r.Fatal(err)
	}
	return append(cluster.Environment(), "KUBECONFIG="+file)
}

// chartOfOurs installs packaging/controller without a pod, and returns the arguments that its pods
// would have.
func (r *rig) chartOfOurs(set string, more ...string) []string {
	r.Helper()
	ours := filepath.Join("..", "..", "packaging", "controller")
	result := cluster.Run(r.TB, clustertest.Program(r.TB), "", append([]string{"install", "release-controller", ours, "-n", r.namespace, "--set", "replicas=0,eventsAddr=," + set}, more...)...)
	if result.ExitCode != 0 {
		r.Fatal(result.Stderr)
	}
	args := []string{"--runtime-namespace", r.namespace, "--watch-all-namespaces=false"}
	for _, arg := range strings.Split(r.kubectl("get", "deployment", "release-controller", "-o", `jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}`), "\n") {
		if !strings.HasPrefix(arg, "--cache-dir=") {
			args = append(args, arg)
		}
	}
	return args
}

// With the rights that its chart gives it, and no others, the controller does its work: it installs as
// the ServiceAccount of docs/rbac/deployer.yaml, makes HelmCharts from templates, corrects drift, sends
// events, uninstalls, and shares the work with a second replica.
func TestTheChartsRightsAreEnough(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	args := r.chartOfOurs("rbac.clusterAdmin=false,defaultServiceAccount=deployer,automaticShards=true")
	r.kubectl("apply", "-f", filepath.Join("..", "..", "docs", "rbac", "deployer.yaml"))
	environment := r.as("release-controller")
	var logs []*process
	for range 2 {
		logs = append(logs, startControllerIn(t, environment, args...))
	}
	for _, c := range logs {
		r.eventually("two replicas share", func() bool { return strings.Contains(c.log.String(), `"replicas":2`) })
	}
	r.publish("app", "1.0.0", slow("1s"))
	cluster.Apply(t, r.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values.yaml: 'msg: secret'}}")
	r.release("web", "driftDetection: {mode: enabled}, valuesFrom: [{kind: Secret, name: values}]")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", slow("1s"))
	r.ready("web", "1.1.0")
	r.kubectl("set", "image", "deployment", "web", "web=other")
	r.kubectl("annotate", "hr", "web", "--overwrite", "reconcile.fluxcd.io/requestedAt=1")
	r.eventually("drift is corrected", func() bool {
		return r.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}") == "web"
	})
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: templated}
spec: {interval: 10m, chart: {spec: {chart: app, sourceRef: {kind: HelmRepository, name: repo}}}}`)
	r.eventually("there is a HelmChart", func() bool {
		return strings.Contains(r.kubectl("get", "helmcharts", "-o", "name"), r.namespace+"-templated")
	})
	r.eventually("events tell it", func() bool {
		return strings.Contains(r.kubectl("get", "events", "-o", "jsonpath={.items[*].reason}"), "UpgradeSucceeded")
	})
	r.remove("web", "templated")
	for _, c := range logs {
		c.stop()
		for line := range strings.Lines(c.log.String()) {
			if strings.Contains(line, "forbidden") && !strings.Contains(line, "a kind can't be watched") { // which the page says
				t.Errorf("a right is missing: %s", line)
			}
		}
	}
	if leases := r.kubectl("get", "leases", "-o", "name"); strings.Contains(leases, "kubectl-release-controller.") {
		t.Errorf("left behind: %s", leases)
	}
}

// The image is named by its digest if one is given.
func TestTheChartsImage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chartOfOurs("image.repository=example.com/c,image.digest=sha256:" + strings.Repeat("a", 64))
	if got, want := r.kubectl("get", "deployment", "release-controller", "-o", "jsonpath={.spec.template.spec.containers[0].image}"), "example.com/c@sha256:"+strings.Repeat("a", 64); got != want {
		t.Errorf("the image is %s, want %s", got, want)
	}
}

// The table of rights in docs/controller.md is that of the chart, rule by rule.
func TestTheTableOfRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chartOfOurs("rbac.clusterAdmin=false")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for kind, name := range map[string]string{"clusterrole": r.namespace + "-release-controller", "role": "release-controller-lease"} {
		var role rbacv1.ClusterRole // a Role has the same rules
		if err := json.Unmarshal([]byte(r.kubectl("get", kind, name, "-o", "json")), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			group := rule.APIGroups[0]
			switch {
			case group == "":
				group = "core"
			case kind == "role":
				group += ", in its own namespace"
			}
			row := "| " + group + " | " + strings.Join(rule.Resources, ", ") + " | " + strings.Join(rule.Verbs, ", ")
			if n++; !strings.Contains(string(page), row) {
				t.Errorf("the page has no row %s", row)
			}
		}
	}
	_, table, _ := strings.Cut(string(page), "## Rights")
	table, _, _ = strings.Cut(table, "## Operation")
	if rows := strings.Count(table, "\n|") - 2; rows != n {
		t.Errorf("the table has %d rows, the chart %d rules", rows, n)
	}
}

// The policy files in the chart's values are those that docs/controller.md shows, and are mounted where
// the controller is told to look for them; it reads them, and what one of them denies is not done.
func TestTheChartsPolicies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, values, _ := strings.Cut(string(page), "```yaml\ndeny: [data]\n")
	values, _, _ = strings.Cut(values, "```")
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("deny: [data]\n"+values), 0o600); err != nil {
		t.Fatal(err)
	}
	args := r.chartOfOurs("noCrossNamespaceRefs=false", "-f", file)
	mounts := r.kubectl("get", "deployment", "release-controller", "-o", "jsonpath={.spec.template.spec.containers[0].volumeMounts[?(@.mountPath=='/policies')].name} {.spec.template.spec.volumes[?(@.name=='policies')].configMap.name}")
	if mounts != "policies release-controller-policies" {
		t.Errorf("policies are mounted as %q", mounts)
	}
	text := r.kubectl("get", "configmap", "release-controller-policies", "-o", `jsonpath={.data.production\.yaml}`)
	mounted := filepath.Join(t.TempDir(), "production.yaml")
	if err := os.WriteFile(mounted, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	i := slices.Index(args, "--policy=/policies/production.yaml")
	if i < 0 || !slices.Contains(args, "--deny=data") {
		t.Fatalf("the arguments are %q", args)
	}
	args[i] = "--policy=" + mounted
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--deny=data" }) // which denies it, too
	claim := settings("")
	claim["templates/claim.yaml"] = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: orders}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	r.publish("app", "1.0.0", claim)
	startControllerIn(t, append(cluster.Environment(), "KUBECONFIG="+cluster.Kubeconfig), args...)
	r.release("web", "")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", settings(""))
	hr := r.notReady("web", "PlanDenied", "claims hold orders")
	if got := r.kubectl("get", "pvc", "-o", "name"); got != "persistentvolumeclaim/orders" || hr.Status.Failures != 0 || len(hr.Status.History) != 1 {
		t.Errorf("there are %q, %+v", got, hr.Status)
	}
	if message := flux.Condition(hr.Status.Conditions, "Ready").Message; !strings.Contains(message, "production.yaml") {
		t.Errorf("it does not name the file: %s", message)
	}
}
