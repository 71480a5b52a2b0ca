//go:build cluster

package controller_test

import (
	"strings"
	"testing"
	"time"
)

// A wait holds no worker: another HelmRelease is released meanwhile by the only one. It goes
// on when a new generation has the same plan, and ends when that is another one; what was
// waited for counts as no failure then.
func TestCheck46NewGenerationDuringAWait(t *testing.T) {
	r := newRig(t)
	r.publish("app", "1.0.0", slow("1s"))
	c := r.start("--concurrent=1")
	r.release("web", "timeout: 10m")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", slow("600s"))
	r.underway("web", 2)
	r.publish("other", "1.0.0", settings(""))
	cluster.Apply(t, r.namespace, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: beside}, spec: {interval: 10m, chartRef: {kind: HelmChart, name: other}}}")
	r.ready("beside", "1.0.0")
	record := func() string {
		return r.kubectl("get", "secret", "sh.helm.release.v1.web.v2", "-o", "jsonpath={.metadata.labels.status}")
	}
	r.release("web", "timeout: 11m") // the same plan
	time.Sleep(5 * time.Second)
	if got := record(); got != "pending-upgrade" {
		t.Fatalf("the wait has ended for the same plan: revision 2 is %s", got)
	}
	r.publish("app", "1.2.0", slow("1s"))
	hr := r.ready("web", "1.2.0")
	if got := record(); got != "failed" || hr.Status.Failures != 0 || hr.Status.UpgradeFailures != 0 || hr.Status.Snapshots()[0].Version != 3 {
		t.Errorf("revision 2 is %s, %+v", got, hr.Status)
	}
	r.eventually("the log tells of it", func() bool { return strings.Contains(c.log.String(), "HealthCheckCanceled") })
	if strings.Contains(c.log.String(), "UpgradeFailed") {
		t.Error("it is told as a failure")
	}
	r.oneDeployed("web", hr)
}
