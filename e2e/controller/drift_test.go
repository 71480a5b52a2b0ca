//go:build cluster

package controller_test

import (
	"testing"
	"time"
)

// With drift detection, too, a pass in sync sends no request: objects are watched by
// their metadata. What somebody changes or deletes is brought back at once, and not at
// the interval of ten minutes.
func TestCheck30DriftIsWatched(t *testing.T) {
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	r.start()
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: often}
spec: {interval: 1s, timeout: 30s, chartRef: {kind: HelmChart, name: app}, driftDetection: {mode: enabled}}`)
	r.ready("often", "1.0.0")
	time.Sleep(8 * time.Second) // passes after what was written, and the first lists
	from := lines(t, audit)
	time.Sleep(8 * time.Second)
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
