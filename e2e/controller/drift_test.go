//go:build cluster

package controller_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// scaler is the template of a HorizontalPodAutoscaler: a kind whose status changes, and which has no generation.
const scaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: '{{ .Release.Name }}'}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}`

// With drift detection, too, a pass in sync sends no request: objects are watched by their metadata.
// What somebody changes is restored immediately, not at the next interval of ten minutes.
func TestCheck30DriftIsWatched(t *testing.T) {
	r := newRig(t)
	files := settings("")
	files["templates/scaler.yaml"] = scaler
	r.publish("app", "1.0.0", files)
	metrics := porttest.FreeAddress(t)
	r.start("--metrics-addr=" + metrics)
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: often}
spec: {interval: 1s, timeout: 30s, chartRef: {kind: HelmChart, name: app}, driftDetection: {mode: enabled}}`)
	r.ready("often", "1.0.0")
	scale := func(to string) {
		r.kubectl("patch", "hpa", "often", "--subresource=status", "--type=merge", `-p={"status":{"currentReplicas":`+to+`}}`)
	}
	scale("2")
	from := quiet(t)
	scale("3")
	r.passInSync(metrics, 8)
	if sent := since(t, from); len(sent) > 0 {
		t.Errorf("passes in sync send %d requests: %v", len(sent), sent)
	}
	r.release("web", "driftDetection: {mode: enabled}")
	r.ready("web", "1.0.0")
	r.kubectl("annotate", "hr", "web", "reconcile.fluxcd.io/requestedAt=1")
	r.eventually("there was a pass", func() bool { return r.get("web").Status.LastHandledReconcileAt == "1" })
	r.kubectl("patch", "cm", "web-settings", "--type=merge", `-p={"data":{"msg":"drift"}}`)
	r.eventually("the change is taken back", func() bool {
		return r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}") == "hello"
	})
	r.release("web", "driftDetection: {mode: enabled}, values: {msg: other}")
	r.eventually("the upgrade is made", func() bool {
		return r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}") == "other"
	})
	if hr := r.ready("web", "1.0.0"); hr.Status.History[0].Version != 2 {
		t.Errorf("the drift has made a revision: %+v", hr.Status.History)
	}
}

// twentyConfigMaps returns a chart's template of twenty ConfigMaps, each with the text.
func twentyConfigMaps(text string) map[string]string {
	return map[string]string{"templates/all.yaml": `{{ range until 20 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ $.Release.Name }}-{{ . }}'}
data: {text: '` + text + `'}
{{ end }}`}
}

// What is changed right after the first install, before any watch of its kind has begun, is also
// corrected immediately, not at the next interval.
func TestDriftRightBehindTheInstall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	r.start()
	r.release("web", "driftDetection: {mode: enabled}")
	r.ready("web", "1.0.0")
	r.kubectl("patch", "cm", "web-settings", "--type=merge", `-p={"data":{"msg":"drift"}}`)
	r.eventually("the change is taken back", func() bool {
		return r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}") == "hello"
	})
}

// A pass that looks for drift lists each kind once, and does not read its objects one by one. What it
// finds is reported by field and field manager.
func TestADriftPassListsAKindOnce(t *testing.T) {
	r := newRig(t)
	r.publish("app", "1.0.0", twentyConfigMaps(`one`))
	r.start()
	r.release("web", "driftDetection: {mode: warn}")
	r.ready("web", "1.0.0")
	r.kubectl("annotate", "hr", "web", "reconcile.fluxcd.io/requestedAt=1")
	r.eventually("there was a pass", func() bool { return r.get("web").Status.LastHandledReconcileAt == "1" })
	from := quiet(t)
	r.kubectl("patch", "cm", "web-7", "--type=merge", `-p={"data":{"text":"drift"}}`)
	hr := r.until("web", "drifted", func(hr *flux.HelmRelease) bool { return flux.ConditionTrue(hr.Status.Conditions, "Drifted") })
	if message := flux.Condition(hr.Status.Conditions, "Drifted").Message; !strings.HasSuffix(message, "web-7 changed (0 additions, 1 changes, 0 removals): data.text (by kubectl-patch)") {
		t.Error(message)
	}
	quiet(t)
	lists, dryRuns := 0, 0
	for _, q := range since(t, from) {
		path, query, _ := strings.Cut(q.RequestURI, "?")
		_, name, ours := strings.Cut(path, "/namespaces/"+r.namespace+"/configmaps")
		switch {
		case !ours || q.Stage != "ResponseComplete":
		case name == "" && q.Verb == "list":
			lists++
		case q.Verb == "get":
			t.Errorf("%s is read alone", q.RequestURI)
		case name == "/web-7" && strings.Contains(query, "dryRun=All"):
			dryRuns++
		}
	}
	if lists == 0 || lists != dryRuns {
		t.Errorf("%d LISTs of the kind for %d dry runs of an object", lists, dryRuns)
	}
}

// A kind that the controller may not list at first is reported in the log and in a metric, holds up no
// release, and is tried again: once it may be listed, its drift is corrected immediately, too.
func TestDriftOfAKindThatMayBeListedLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	args := r.chartOfOurs("rbac.clusterAdmin=false,defaultServiceAccount=deployer")
	r.kubectl("apply", "-f", filepath.Join("..", "..", "docs", "rbac", "deployer.yaml"))
	metrics := porttest.FreeAddress(t)
	c := startControllerIn(t, r.as("release-controller"), append(args, "--metrics-addr="+metrics, "--max-retry-delay=2s")...)
	r.publish("app", "1.0.0", slow("1s"))
	r.release("web", "driftDetection: {mode: enabled}")
	r.ready("web", "1.0.0")
	r.kubectl("annotate", "hr", "web", "reconcile.fluxcd.io/requestedAt=1")
	told := func() bool {
		_, text := fetch(t, metrics, "/metrics")
		return strings.Contains(text, `kubectl_release_unwatched_kinds{group="apps",kind="Deployment"} 1`)
	}
	r.eventually("the metric tells it", told)
	r.eventually("the log tells it", func() bool { return strings.Contains(c.log.String(), "a kind can't be watched") })
	watcher := r.namespace + "-watcher"
	cluster.Kubectl(t, "create", "clusterrole", watcher, "--verb=list,watch", "--resource=deployments.apps")
	cluster.Kubectl(t, "create", "clusterrolebinding", watcher, "--clusterrole="+watcher, "--serviceaccount="+r.namespace+":release-controller")
	t.Cleanup(func() { cluster.Kubectl(t, "delete", "clusterrole,clusterrolebinding", watcher) })
	r.eventually("the metric tells that it is over", func() bool { return !told() })
	r.kubectl("annotate", "hr", "web", "--overwrite", "reconcile.fluxcd.io/requestedAt=2")
	r.eventually("there was a pass", func() bool { return r.get("web").Status.LastHandledReconcileAt == "2" })
	r.kubectl("set", "image", "deployment", "web", "web=other")
	r.eventually("the change is taken back", func() bool {
		return r.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}") == "web"
	})
}
