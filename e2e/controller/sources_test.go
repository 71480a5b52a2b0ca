//go:build cluster

package controller_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// notReady waits until the HelmRelease is not ready for the reason.
func (r *rig) notReady(name, reason, text string) *flux.HelmRelease {
	r.Helper()
	return r.until(name, "not ready: "+reason, func(hr *flux.HelmRelease) bool {
		c := flux.Condition(hr.Status.Conditions, "Ready")
		return c != nil && c.Status == "False" && c.Reason == reason && strings.Contains(c.Message, text)
	})
}

// An artifact that is not on its server, or is not what its status says, is not used;
// once it is there the release goes on.
func TestArtifactsThatVanish(t *testing.T) {
	r := newRig(t)
	data := archive(t, "app", "1.0.0", settings(""))
	r.source("app", "1.0.0", r.server.URL+"/app-1.0.0.tgz", data)
	r.start()
	r.release("web", "")
	r.until("web", "without its artifact", func(hr *flux.HelmRelease) bool {
		c := flux.Condition(hr.Status.Conditions, "Ready")
		return c != nil && c.Status == "False"
	})
	r.mu.Lock()
	r.artifacts["/app-1.0.0.tgz"] = archive(t, "app", "1.0.0", settings(", forged: yes"))
	r.mu.Unlock()
	r.kubectl("annotate", "hr", "web", "--overwrite", "reconcile.fluxcd.io/requestedAt=1")
	r.notReady("web", "ArtifactFailed", "download of artifact")
	r.publish("app", "1.0.0", settings(""))
	r.ready("web", "1.0.0")
}

// A chart template becomes a HelmChart, as helm-controller makes it; with the
// HelmRelease it goes.
func TestChartTemplate(t *testing.T) {
	r := newRig(t)
	r.start()
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  interval: 10m
  chart:
    metadata: {labels: {team: shop}}
    spec: {chart: ./charts/app, sourceRef: {kind: GitRepository, name: repo}}`)
	name := r.namespace + "-web"
	r.eventually("there is a HelmChart", func() bool {
		return r.kubectl("get", "helmchart", "--ignore-not-found", "-o", "name", name) != ""
	})
	got := r.kubectl("get", "helmchart", name, "-o", "jsonpath={.spec.chart} {.spec.sourceRef.kind}/{.spec.sourceRef.name} {.spec.interval} {.metadata.labels.team} {.metadata.labels.helm\\.toolkit\\.fluxcd\\.io/name}")
	if got != "./charts/app GitRepository/repo 10m0s shop web" {
		t.Error(got)
	}
	hr := r.until("web", "waiting for the chart", func(hr *flux.HelmRelease) bool { return hr.Status.HelmChart != "" })
	if hr.Status.HelmChart != r.namespace+"/"+name {
		t.Error(hr.Status.HelmChart)
	}
	r.kubectl("delete", "hr", "web", "--timeout=60s")
	if left := r.kubectl("get", "helmchart", "-o", "name"); left != "" {
		t.Error(left)
	}
}

// A source of another namespace is refused with the flag, and that ends the tries.
func TestCheck41CrossNamespace(t *testing.T) {
	r := newRig(t)
	r.start("--no-cross-namespace-refs")
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec: {interval: 10m, chartRef: {kind: HelmChart, name: app, namespace: other}}`)
	hr := r.notReady("web", "AccessDenied", "cross-namespace references have been blocked")
	if !flux.ConditionTrue(hr.Status.Conditions, "Stalled") {
		t.Errorf("%+v", hr.Status.Conditions)
	}
}

// A HelmRelease waits for those that it depends on, and goes on as soon as they are
// ready.
func TestDependenciesAreWatched(t *testing.T) {
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	r.start("--requeue-dependency=1h")
	r.release("web", "dependsOn: [{name: base}]")
	r.notReady("web", "DependencyNotReady", "base")
	r.release("base", "")
	r.ready("web", "1.0.0")
}
