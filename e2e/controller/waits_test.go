//go:build cluster

package controller_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

// A wait occupies no worker: meanwhile, the only worker releases another HelmRelease. The wait goes on
// if a new generation has the same plan, and ends if it has another one, because of other values or
// another chart; what was waited for then does not count as a failure.
func TestCheck46NewGenerationDuringAWait(t *testing.T) {
	t.Parallel()
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
	record := func(revision int) string {
		return r.kubectl("get", "secret", fmt.Sprintf("sh.helm.release.v1.web.v%d", revision), "-o", "jsonpath={.metadata.labels.status}")
	}
	r.release("web", "timeout: 11m") // the same plan
	time.Sleep(5 * time.Second)
	if got := record(2); got != "pending-upgrade" {
		t.Fatalf("the wait has ended for the same plan: revision 2 is %s", got)
	}
	r.release("web", "timeout: 11m, values: {note: other}")
	r.eventually("the next plan is waited for", func() bool {
		return r.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.metadata.annotations.note}") == "other"
	})
	if second, third := record(2), record(3); second != "failed" || third != "pending-upgrade" {
		t.Errorf("behind a new generation with other values revision 2 is %s, revision 3 %s", second, third)
	}
	r.publish("app", "1.2.0", slow("1s"))
	hr := r.ready("web", "1.2.0")
	if got := record(3); got != "failed" || hr.Status.Failures != 0 || hr.Status.UpgradeFailures != 0 || hr.Status.Snapshots()[0].Version != 4 {
		t.Errorf("behind a new chart revision 3 is %s, %+v", got, hr.Status)
	}
	r.eventually("the log tells of it", func() bool { return strings.Contains(c.log.String(), "HealthCheckCanceled") })
	if strings.Contains(c.log.String(), "UpgradeFailed") {
		t.Error("it is told as a failure")
	}
	r.oneDeployed("web", hr)
}

// A hook occupies no worker: meanwhile, the only worker releases another HelmRelease. A new chart does
// not interrupt a hook; once the hook has ended and everything is sent, the wait gives way to the
// chart.
func TestHooksHoldNoWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", slow("1s"))
	r.start("--concurrent=1")
	r.release("web", "timeout: 10m")
	r.ready("web", "1.0.0")
	files := slow("600s")
	files["templates/web.yaml"] = running(files["templates/web.yaml"])
	hooks := r.hooks()
	r.publish("app", "1.1.0", files)
	r.runs("hook-2")
	r.publish("other", "1.0.0", settings(""))
	cluster.Apply(t, r.namespace, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: beside}, spec: {interval: 10m, chartRef: {kind: HelmChart, name: other}}}")
	r.ready("beside", "1.0.0")
	r.publish("app", "1.2.0", slow("1s"))
	time.Sleep(5 * time.Second)
	if got := r.kubectl("get", "secret", "sh.helm.release.v1.web.v2", "-o", "jsonpath={.metadata.labels.status}"); got != "pending-upgrade" {
		t.Fatalf("the hook was broken off: revision 2 is %s", got)
	}
	r.succeeds("hook-2")
	hr := r.ready("web", "1.2.0")
	if h := hr.Status.Snapshots(); h[0].Version != 3 || hr.Status.Failures != 0 {
		t.Errorf("failures %d, history %+v", hr.Status.Failures, h)
	}
	if ran := hooks.count(); !maps.Equal(ran, map[string]int{"hook-2": 1, "hook-3": 1}) {
		t.Errorf("hooks ran: %v", ran)
	}
	r.oneDeployed("web", hr)
}

// running has the Jobs of slow run until they are told to succeed.
func running(jobs string) string {
	return strings.ReplaceAll(jobs, "template: {spec: {restartPolicy",
		"template: {metadata: {annotations: {testcluster.kubectl-release.dev/behave: run}}, spec: {restartPolicy")
}

// runs waits until the Job's pod runs.
func (r *rig) runs(job string) {
	r.Helper()
	r.eventually(job+" runs", func() bool {
		return r.kubectl("get", "pods", "-l", "job-name="+job, "-o", "jsonpath={.items[*].status.phase}") == "Running"
	})
}

// succeeds has the Job's pod succeed.
func (r *rig) succeeds(job string) {
	r.Helper()
	pod := r.kubectl("get", "pods", "-l", "job-name="+job, "-o", "jsonpath={.items[0].metadata.name}")
	r.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", `{"status": {"phase": "Succeeded"}}`)
}

// Neither a hook that runs after the wait nor a test is interrupted, by a request or by another plan: the
// test would count as failed.
func TestHooksAfterAWaitAreNotInterrupted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	files := slow("1s")
	_, hook, _ := strings.Cut(files["templates/web.yaml"], "---\n")
	files["templates/web.yaml"] = running(strings.Replace(files["templates/web.yaml"], "pre-install,pre-upgrade", "post-install", 1))
	files["templates/test.yaml"] = running(strings.NewReplacer("hook-", "test-", "pre-install,pre-upgrade", "test").Replace(hook))
	r.publish("app", "1.0.0", files)
	c := r.start("--concurrent=1")
	r.release("web", "timeout: 10m, test: {enable: true}")
	for i, job := range []string{"hook-1", "test-1"} {
		r.runs(job)
		r.release("web", fmt.Sprintf("timeout: 10m, test: {enable: true}, values: {note: %s}", job))
		r.kubectl("annotate", "--overwrite", "hr", "web", fmt.Sprintf("reconcile.fluxcd.io/requestedAt=%d", i))
		time.Sleep(5 * time.Second)
		r.runs(job)
		r.succeeds(job)
	}
	r.runs("test-2") // of the next plan
	if got := c.log.String(); strings.Contains(got, "TestFailed") || strings.Contains(got, "HealthCheckCanceled") {
		t.Error("a hook was interrupted")
	}
	if hr := r.get("web"); hr.Status.Failures != 0 || len(hr.Status.Snapshots()) != 2 {
		t.Errorf("%+v", hr.Status)
	}
}

// Waits hold none of the memory budget, either: more releases wait than there would be shares for, and
// the chart that fixes them gets through.
func TestWaitsHoldNoMemoryBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", slowOfMany("600s"))
	r.start("--memory-budget=2097152", "--concurrent=2")
	names := make([]string, 6)
	for i := range names {
		names[i] = fmt.Sprintf("web-%d", i)
		r.release(names[i], "timeout: 10m")
	}
	for _, name := range names {
		r.underway(name, 1)
	}
	r.publish("app", "1.1.0", slowOfMany("1s"))
	for _, name := range names {
		if hr := r.ready(name, "1.1.0"); hr.Status.Failures != 0 {
			t.Errorf("%s: %d failures", name, hr.Status.Failures)
		}
	}
}
