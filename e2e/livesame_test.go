//go:build cluster

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// sampled are charts of several kinds that install quickly: with CRDs in crds/, with StatefulSets,
// with roles, and with next to nothing. The charts of TestBigCharts, which are planned again, too,
// cover hooks and passwords that are looked up.
var sampled = []string{
	"charts/traefik-traefik-41.3.0.tgz", "charts/hashicorp-vault-0.34.1.tgz", "charts/helm-goldpinger-2.0.4.tgz", "charts/istio-gateway-1.0.0.tgz",
}

// madeUp are values for charts that generate something new each time they are
// rendered, and either do not look up the existing one or compute its checksum from
// something else: their pods do restart once more. These values keep it the same.
var madeUp = map[string]string{
	"kube-prometheus-stack": "grafana.adminPassword=not-random,grafana.admin.password=not-random",
	"bitnami-kafka":         "sasl.client.passwords={not-random},sasl.interbroker.password=not-random,sasl.controller.password=not-random,existingKraftSecret=kraft",
	"istio-base":            "base.validationFailurePolicy=Fail",
	"bitnami-nats":          "auth.credentials[0].user=me,auth.credentials[0].password=not-random,cluster.auth.password=not-random",
	"elastic-elasticsearch": "secret.password=not-random",
	"helm-dokuwiki":         "dokuwikiPassword=not-random",
	"helm-drupal":           "drupalPassword=not-random,mariadb.rootUser.password=not-random,mariadb.db.password=not-random",
	"helm-percona":          "mysqlRootPassword=not-random,mysqlPassword=not-random",
	"helm-redis":            "password=not-random",
	"versions/redis":        "auth.password=not-random",
}

// outdated charts have objects of API versions that this Kubernetes no longer serves. Without a
// cluster they are compared with themselves, like all others.
var outdated = []string{"helm-cert-manager", "helm-concourse", "helm-couchdb", "helm-prometheus-consul-exporter", "helm-zetcd"}

// Planning a release again with the same chart and values shows no changes, whether it was
// applied server-side or client-side: for every chart in ../shared/charts and every version
// in ../shared/versions. Without -soak, for a sample, each in one of the two ways.
func TestAReleasePlannedAgainShowsNothing(t *testing.T) {
	charts := sampled
	if *soak {
		charts = []string{"charts/*.tgz", "versions/*/*.tgz"}
	}
	var files []string
	for _, pattern := range charts {
		found, err := filepath.Glob(filepath.Join(inTree("..", "shared"), filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Fatalf("../shared/%s is not there", pattern)
		}
		files = append(files, found...)
	}
	program := filepath.Join(pluginFolder(t), "kubectl-release")
	for i, serverSide := range []string{"true", "false"} {
		for n, file := range files {
			if !*soak && n%2 != i {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)+"/server-side "+serverSide, func(t *testing.T) {
				plannedAgain(t, program, file, "--server-side="+serverSide)
			})
		}
	}
}

// plannedAgain installs the chart, plans it again, and uninstalls it.
func plannedAgain(t *testing.T, program, file, serverSide string) {
	t.Helper()
	before, namespace := crds(t), cluster.Namespace(t)
	run := func(args ...string) clustertest.Result {
		return cluster.Run(t, program, "", append(args, "-n", namespace)...)
	}
	args := []string{"r", file, serverSide}
	for chart, values := range madeUp {
		if strings.Contains(file, chart) {
			args = append(args, "--set", values)
		}
	}
	if strings.Contains(file, "istio-base") { // the chart requires this namespace
		cluster.Kubectl(t, "create", "namespace", "istio-system")
		defer cluster.Kubectl(t, "delete", "namespace", "istio-system")
	}
	r := run(append([]string{"install"}, args...)...)
	if slices.ContainsFunc(outdated, func(chart string) bool { return strings.Contains(file, chart) }) {
		if r.ExitCode != 1 || !strings.Contains(r.Stderr, "use a chart version made for this Kubernetes") {
			t.Errorf("install: exit code %d\n%s", r.ExitCode, r.Stderr)
		}
		return
	}
	if r.ExitCode != 0 {
		t.Fatalf("install: exit code %d\n%s", r.ExitCode, r.Stderr)
	}
	r = run(append([]string{"plan", "--detailed-exitcode"}, args...)...)
	if r.ExitCode != 0 || !strings.Contains(r.Stdout, "No changes.") {
		t.Errorf("exit code %d\n%s\n%s", r.ExitCode, r.Stdout, r.Stderr)
	}
	if r := run("uninstall", "r"); r.ExitCode != 0 {
		t.Errorf("uninstall: exit code %d\n%s", r.ExitCode, r.Stderr)
	}
	removeNewCRDs(t, before)
}
