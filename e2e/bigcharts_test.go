//go:build cluster

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bigChart is a real chart and what it takes to install it here.
type bigChart struct {
	name, file string
	// flags are values that every command gets. Charts that generate new
	// secrets at every render get them from here.
	flags []string
	// change is the one value that the upgrade changes; secret is the path of
	// another, whose value must not appear in any output.
	change, secret string
	// modes are the modes in which make test runs the chart; a soak runs both.
	modes []string
}

// TestBigCharts takes popular charts through their life cycle: install,
// upgrade with one changed value, rollback, uninstall, client-side and
// server-side. The upgrade and the rollback do what their plans say. After
// each step a plan with the same values says that there is nothing to change,
// no form of the upgrade's plan shows a secret, and in the end nothing is left.
// make test runs two of them, each in one mode; make soak runs all.
func TestBigCharts(t *testing.T) {
	charts := inTree("..", "shared", "charts")
	observer := newObserver(t)
	for _, b := range []bigChart{
		{name: "redis", file: "bitnami-redis-23.1.1.tgz", flags: []string{"--set", "auth.password=not-random"}, change: "replica.replicaCount=2", secret: "auth.password", modes: []string{"client-side"}},
		{name: "traefik", file: "traefik-traefik-41.3.0.tgz", change: "deployment.replicas=2", secret: "deployment.annotations.password"},
		{name: "ingress", file: "ingress-ingress-nginx-4.15.1.tgz", change: "controller.replicaCount=2", secret: "extra.password", modes: []string{"server-side"}},
		{name: "argo", file: "argoproj-argo-cd-10.1.1.tgz", change: "server.replicas=2", secret: "configs.secret.githubSecret"},
		{name: "kps", file: "prometheus-community-kube-prometheus-stack-88.5.3.tgz", flags: []string{"--set", "grafana.admin.password=not-random"}, change: "grafana.grafana.replicaCount=2", secret: "grafana.admin.password"},
	} {
		if *soak {
			b.modes = []string{"server-side", "client-side"}
		}
		t.Run(b.name, func(t *testing.T) {
			b.file = filepath.Join(charts, b.file)
			if _, err := os.Stat(b.file); err != nil {
				t.Fatalf("the chart has to be in ../shared/charts: %v", err)
			}
			for _, mode := range b.modes {
				t.Run(mode, func(t *testing.T) {
					l := life{t: t, chart: b, namespace: cluster.Namespace(t), tools: pluginFolder(t), observer: observer}
					l.chart.flags = append([]string{"--server-side=" + fmt.Sprint(mode == "server-side")}, b.flags...)
					l.run()
				})
			}
		})
	}
}

// life is one chart in one namespace.
type life struct {
	t         *testing.T
	chart     bigChart
	namespace string
	tools     string
	observer  *observer
}

// canary is the secret value that the upgrade sets.
const canary = "cAnAry-7f3a91"

func (l life) run() {
	before := crds(l.t)
	base := append([]string{l.chart.name, l.chart.file}, l.chart.flags...)
	changed := append(append([]string{}, base...), "--set", l.chart.change, "--set", l.chart.secret+"="+canary)

	l.release(0, append([]string{"install", "--wait", "--timeout", "10m"}, base...)...)
	l.noChanges(base)
	l.release(2, append([]string{"plan", "--detailed-exitcode", "--summary"}, changed...)...)
	l.keepsSecret(changed)
	l.comesTrue(append([]string{"plan", "--wait", "--timeout", "10m"}, changed...)...)
	l.noChanges(changed)
	l.comesTrue("plan", "rollback", l.chart.name, "--wait", "--timeout", "10m")
	l.noChanges(base)
	l.release(0, "uninstall", l.chart.name, "--wait", "--timeout", "10m")
	l.nothingLeft()
	removeNewCRDs(l.t, before)
}

// comesTrue saves a plan, applies it, and compares it with the cluster.
func (l life) comesTrue(args ...string) {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), "saved.plan")
	l.release(0, append(args, "--out", file)...)
	w := witness{observer: l.observer, t: l.t, namespace: l.namespace, release: l.chart.name}
	w.carriedOut(file, w.snapshot())
}

// keepsSecret looks for the canary in every form of the plan.
func (l life) keepsSecret(args []string) {
	l.t.Helper()
	for _, form := range []string{"text", "json", "yaml", "markdown", "html", "mermaid", "dot"} {
		result := cluster.Run(l.t, filepath.Join(l.tools, "kubectl-release"), "", append([]string{"plan", "-o", form, "-n", l.namespace}, args...)...)
		if result.ExitCode != 0 {
			l.t.Errorf("plan -o %s: exit code %d\n%s", form, result.ExitCode, result.Stderr)
		}
		for _, told := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary))} {
			if strings.Contains(result.Stdout+result.Stderr, told) {
				l.t.Errorf("plan -o %s tells the secret", form)
			}
		}
	}
}

func crds(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for name := range strings.FieldsSeq(cluster.Kubectl(t, "get", "customresourcedefinitions", "-o", "name")) {
		found[name] = true
	}
	return found
}

// removeNewCRDs removes the CRDs that came from crds/, which Helm never deletes. If the API server
// can't list a CRD's instances twice in a row, it forgets the CRD for minutes (crd_finalizer.go
// of k8s.io/apiextensions-apiserver drops what conflicts with its own write): CRDs that remain
// are touched.
func removeNewCRDs(t *testing.T, before map[string]bool) {
	t.Helper()
	added := func() (list []string) {
		for name := range crds(t) {
			if !before[name] {
				list = append(list, name)
			}
		}
		return list
	}
	stay := added()
	if len(stay) > 0 {
		cluster.Kubectl(t, append([]string{"delete", "--wait=false"}, stay...)...)
	}
	for round := 0; len(stay) > 0; round++ {
		if round > 600 {
			t.Fatalf("these stay: %v", stay)
		}
		time.Sleep(500 * time.Millisecond)
		if stay = added(); round%6 == 5 {
			for _, name := range stay { // it may be gone by now
				cluster.Run(t, cluster.Binaries.Kubectl, "", "--kubeconfig", cluster.Kubeconfig, "annotate", "--overwrite", name, fmt.Sprintf("touched=%d", round))
			}
		}
	}
}

// release runs the program in the chart's namespace and returns what it prints.
func (l life) release(code int, args ...string) string {
	l.t.Helper()
	result := cluster.Run(l.t, filepath.Join(l.tools, "kubectl-release"), "", append(args, "-n", l.namespace)...)
	if result.ExitCode != code {
		l.t.Fatalf("kubectl release %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), result.ExitCode, code, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

func (l life) noChanges(args []string) {
	l.t.Helper()
	out := l.release(0, append([]string{"plan"}, args...)...)
	if !strings.Contains(out, "No changes.") && !strings.Contains(out, "No object changes") {
		l.t.Fatalf("there should be nothing to change:\n%s", out)
	}
}

// nothingLeft looks for objects with the release's ownership metadata. CRDs from
// crds/ folders have none, and stay, as with Helm. Objects that the chart itself
// marks as kept stay, too; the test removes them.
func (l life) nothingLeft() {
	l.t.Helper()
	kinds := cluster.Kubectl(l.t, "api-resources", "--verbs=list", "-o", "name")
	var names []string
	for kind := range strings.FieldsSeq(kinds) {
		if !strings.HasPrefix(kind, "events") && !strings.HasPrefix(kind, "componentstatuses") {
			names = append(names, kind)
		}
	}
	left := cluster.Kubectl(l.t, "get", strings.Join(names, ","), "--all-namespaces", "--ignore-not-found",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.annotations.meta\.helm\.sh/release-namespace} {.metadata.annotations.helm\.sh/resource-policy}{"\n"}{end}`)
	for line := range strings.Lines(left) {
		words := strings.Fields(line)
		switch {
		case len(words) < 2 || words[1] != l.namespace:
		case len(words) == 3 && words[2] == "keep":
			cluster.Kubectl(l.t, "delete", words[0], "-n", l.namespace)
		default:
			l.t.Errorf("%s is left", words[0])
		}
	}
	records := cluster.Kubectl(l.t, "get", "secrets,configmaps,leases", "-n", l.namespace, "-o", "name", "-l", "owner=helm")
	if strings.TrimSpace(records) != "" {
		l.t.Errorf("records are left: %s", records)
	}
}
