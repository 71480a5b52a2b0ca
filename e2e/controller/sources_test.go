//go:build cluster

package controller_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// notReady waits until the HelmRelease is not ready for the reason, with the text in the message.
func (r *rig) notReady(name, reason, text string) *flux.HelmRelease {
	r.Helper()
	return r.until(name, "not ready: "+reason, func(hr *flux.HelmRelease) bool {
		c := flux.Condition(hr.Status.Conditions, "Ready")
		return c != nil && c.Status == "False" && c.Reason == reason && strings.Contains(c.Message, text)
	})
}

// An artifact that is not on its server, or is not what its status says, is not used; once it is there,
// the release goes on.
func TestArtifactsThatVanish(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	data := archive(t, "app", "1.0.0", settings(""))
	r.source("app", "1.0.0", r.server.URL+"/app-1.0.0.tgz", data)
	r.start()
	r.release("web", "")
	r.notReady("web", "ArtifactFailed", "artifact not found")
	r.mu.Lock()
	r.artifacts["/app-1.0.0.tgz"] = archive(t, "app", "1.0.0", settings(", forged: yes"))
	r.mu.Unlock()
	r.kubectl("annotate", "hr", "web", "--overwrite", "reconcile.fluxcd.io/requestedAt=1")
	r.notReady("web", "ArtifactFailed", "download of artifact")
	r.publish("app", "1.0.0", settings(""))
	r.ready("web", "1.0.0")
}

// An artifact that disappears after an install is not missed by a controller that starts later: all is
// in sync without it. New values need it: until it is back, the status says so and nothing is changed;
// then there is one further revision, with its hook run once.
func TestAnArtifactThatVanishes(t *testing.T) {
	r := newRig(t)
	files := slow("1s")
	data := archive(t, "app", "1.0.0", files)
	const path = "/app-1.0.0.tgz"
	put := func(data []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.downloads = 0
		if r.artifacts[path] = data; data == nil {
			delete(r.artifacts, path)
		}
	}
	put(data)
	hooks := r.hooks()
	r.source("app", "1.0.0", r.server.URL+path, data)
	first := r.start()
	r.release("web", "")
	r.ready("web", "1.0.0")
	first.stop()
	put(nil)
	metrics := porttest.FreeAddress(t)
	r.start("--metrics-addr=" + metrics)
	r.eventually("the next controller has looked at it", func() bool { return passes(t, metrics) > 0 })
	quiet(t)
	r.mu.Lock()
	asked := r.downloads
	r.mu.Unlock()
	if hr := r.get("web"); asked > 0 || !flux.ConditionTrue(hr.Status.Conditions, "Ready") || len(hr.Status.History) != 1 {
		t.Errorf("%d downloads, %+v", asked, hr.Status)
	}
	there := func() string {
		return r.kubectl("get", "deployment,job,secret", "-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	before := there()
	r.release("web", "values: {note: other}")
	hr := r.notReady("web", "ArtifactFailed", "artifact not found")
	if now := there(); now != before || hr.Status.Failures != 0 || hr.Status.UpgradeFailures != 0 {
		t.Errorf("without its artifact it has written:\n%s\nbefore:\n%s\n%+v", now, before, hr.Status)
	}
	put(data)
	hr = r.until("web", "upgraded", func(hr *flux.HelmRelease) bool {
		return flux.ConditionTrue(hr.Status.Conditions, "Ready") && hr.Metadata.Generation == hr.Status.ObservedGeneration && len(hr.Status.History) == 2
	})
	if note := r.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.metadata.annotations.note}"); note != "other" || hr.Status.Snapshots()[0].Version != 2 {
		t.Errorf("the note is %q, history %+v", note, hr.Status.Snapshots())
	}
	if ran := hooks.count(); !maps.Equal(ran, map[string]int{"hook-1": 1, "hook-2": 1}) {
		t.Errorf("hooks ran: %v", ran)
	}
	r.oneDeployed("web", hr)
	if !t.Failed() {
		report(t, "controller artifact", "A source artifact that is deleted from its server behind an install, and a new controller: in sync without asking for it. With new values the status says "+
			"`artifact not found`, and nothing was changed; once it was back: one further revision, each hook once, one record deployed.")
	}
}

// A chart template becomes a HelmChart, as helm-controller makes it; it is deleted with the
// HelmRelease.
func TestChartTemplate(t *testing.T) {
	t.Parallel()
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
	told := "HelmChartCreated Created HelmChart/" + r.namespace + "/" + name + " with SourceRef 'GitRepository/" + r.namespace + "/repo'"
	r.eventually("an event tells "+told, func() bool {
		return strings.Contains(r.kubectl("get", "events", "-o", `jsonpath={range .items[*]}{.reason} {.message}{"\n"}{end}`), told)
	})
	r.remove("web")
	if left := r.kubectl("get", "helmchart", "-o", "name"); left != "" {
		t.Error(left)
	}
}

// A chart from an ExternalArtifact needs its feature gate, and the status says so; with the gate, the
// release gets its chart, and a new artifact immediately.
func TestExternalArtifact(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	publish := func(version string) {
		data := archive(t, "app", version, settings(""))
		path := "/external-" + version + ".tgz"
		r.mu.Lock()
		r.artifacts[path] = data
		r.mu.Unlock()
		sum := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
		cluster.Apply(t, r.namespace, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: ExternalArtifact, metadata: {name: outside}, spec: {}}")
		r.kubectl("patch", "externalartifact", "outside", "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
			`{"status": {"artifact": {"url": %q, "digest": %q, "revision": "latest@%s", "path": "x.tgz", "lastUpdateTime": "2026-11-24T00:00:00Z"}}}`, r.server.URL+path, sum, sum))
	}
	publish("1.0.0")
	first := r.start()
	cluster.Apply(t, r.namespace, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web}, spec: {interval: 10m, chartRef: {kind: ExternalArtifact, name: outside}}}")
	refused := r.notReady("web", "AccessDenied", "ExternalArtifact feature gate is disabled")
	if !flux.ConditionTrue(refused.Status.Conditions, "Stalled") {
		t.Errorf("%+v", refused.Status.Conditions)
	}
	first.stop()
	r.start("--feature-gates=ExternalArtifact=true")
	for i, version := range []string{"1.0.0", "1.1.0"} {
		publish(version)
		hr := r.until("web", "ready with "+version, func(hr *flux.HelmRelease) bool {
			h := hr.Status.Snapshots()
			return flux.ConditionTrue(hr.Status.Conditions, "Ready") && len(h) > 0 && strings.HasPrefix(h[0].ChartVersion, version)
		})
		if h := hr.Status.Snapshots(); h[0].Version != i+1 || h[0].ChartName != "app" {
			t.Errorf("history %+v", h)
		}
	}
}

// With the flag, a source in another namespace is refused and not tried again.
func TestCheck41CrossNamespace(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	r.start("--requeue-dependency=1h")
	r.release("web", "dependsOn: [{name: base}]")
	r.notReady("web", "DependencyNotReady", "base")
	r.release("base", "")
	r.ready("web", "1.0.0")
}
