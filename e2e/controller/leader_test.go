//go:build cluster

package controller_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// While helm-controller holds its lease, the controller does not start, and says so.
func TestCheck48RefusesBesideHelmController(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	cluster.Apply(t, r.namespace, `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: helm-controller-leader-election}
spec: {holderIdentity: helm-controller-5f_6c, leaseDurationSeconds: 35, renewTime: "`+now+`"}`)
	for _, shard := range []string{"", "sharding.fluxcd.io/key=one"} {
		c := r.start("--watch-label-selector=" + shard)
		r.eventually("the controller ends", func() bool { return c.over() })
		if text := c.log.String(); c.ProcessState.ExitCode() != 1 || !strings.Contains(text, "helm-controller is running: lease "+r.namespace+"/helm-controller-leader-election is held by helm-controller-5f_6c") {
			t.Errorf("exit code %d: %s", c.ProcessState.ExitCode(), text)
		}
	}
	r.kubectl("patch", "lease", "helm-controller-leader-election", "--type=merge", `-p={"spec":{"holderIdentity":""}}`)
	r.publish("app", "1.0.0", settings(""))
	r.release("web", "")
	r.start()
	r.ready("web", "1.0.0")
}

// slow returns a chart whose Deployment takes a while to be ready and shows a value, and whose hook is
// a new Job for each revision.
func slow(seconds string) map[string]string {
	return map[string]string{
		"values.yaml": "note: none\n",
		"templates/web.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {testcluster.kubectl-release.dev/behave: "slow:` + seconds + `", version: "{{ .Chart.Version }}", note: "{{ .Values.note }}"}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: hook-{{ .Release.Revision }}
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: hook, image: hook}]}}}
`,
	}
}

// A leader that is paused for longer than its leases writes nothing when it goes on, not even a lease:
// another one has continued its upgrade, with the same revision and without its hook.
func TestCheck44StaleLeader(t *testing.T) {
	t.Parallel()
	r, s := newRig(t), &striker{}
	direct := r.kubeconfig
	r.behind(s)
	r.publish("app", "1.0.0", slow("1s"))
	first := r.start()
	r.release("web", "timeout: 3m")
	r.ready("web", "1.0.0")
	r.kubeconfig = direct
	r.start()
	hooks := r.hooks()
	r.publish("app", "1.1.0", slow("20s"))
	r.underway("web", 2)
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	hr := r.ready("web", "1.1.0")
	s.armed.Store(true)
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	r.eventually("the first one ends for want of its lease", first.over)
	for line := range strings.Lines(s.seen.String()) {
		// It may try once more to keep its own lease or the release's, or to say how its pass has ended: the API
		// server refuses that, because another one has written there meanwhile, or has freed the release.
		line = strings.TrimSpace(line)
		refused := slices.ContainsFunc([]string{
			"/helm-controller-leader-election 409", "/leases/kubectl-release.web 409", "/leases/kubectl-release.web 404", "/helmreleases/web/status 409",
		}, func(end string) bool { return strings.HasSuffix(line, end) })
		if !refused {
			t.Errorf("it has written: %s", line)
		}
	}
	r.oneDeployed("web", hr)
	if n := hooks.count()["hook-2"]; n != 1 || hr.Status.Snapshots()[0].Version != 2 {
		t.Errorf("the hook ran %d times, history %+v", n, hr.Status.Snapshots())
	}
	if !t.Failed() {
		report(t, "controller paused leader", "A leader that stands still in an upgrade (`SIGSTOP`) until another one has taken over and ended it: awake again it wrote nothing, "+
			"no lease either (a try to keep the leader's or the release's, or to write the status, is refused, since another one has written them), and ended for want of its lease. One further revision, its hook once, one record deployed.")
	}
}

// underway waits until the revision is being made.
func (r *rig) underway(name string, revision int) {
	r.Helper()
	record := "sh.helm.release.v1." + name + ".v" + string(rune('0'+revision))
	r.eventually("revision "+record+" is pending", func() bool {
		return strings.Contains(r.kubectl("get", "secret", "--ignore-not-found", record, "-o", "jsonpath={.metadata.labels.status}"), "pending")
	})
}

// oneDeployed checks that one record is deployed, the newest one, and that none is pending.
func (r *rig) oneDeployed(name string, hr *flux.HelmRelease) {
	r.Helper()
	statuses := r.kubectl("get", "secret", "-l", "owner=helm,name="+name, "-o", "jsonpath={.items[*].metadata.labels.status}")
	if strings.Count(statuses, "deployed") != 1 || strings.Contains(statuses, "pending") {
		r.Errorf("records are %s, history %+v", statuses, hr.Status.Snapshots())
	}
}
