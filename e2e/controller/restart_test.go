//go:build cluster

package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// repeated is how long a write is repeated at least (apply/retry.go). On a busy machine an API server
// needs longer to start, and an upgrade may fail and be attempted again.
const repeated = 12 * time.Second

// The API server that the controller talks to is killed in the middle of upgrades and started again:
// connections, watches, its caches and the renewal of leases break off. All HelmReleases converge, with
// each hook run once; where the API server is back soon, with one further revision and without a failure
// that counts.
func TestAPIServerRestarts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	api := cluster.APIServer(t)
	r.kubeconfig = api.Kubeconfig
	c := r.start()
	r.publish("app", "1.0.0", slowOfMany("2s"))
	const n = 8
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("web-%d", i)
		r.release(names[i], "timeout: 3m, upgrade: {remediation: {retries: 1}}")
	}
	for _, name := range names {
		r.ready(name, "1.0.0")
	}
	made := r.hooks()
	r.publish("app", "1.1.0", slowOfMany("2s"))
	r.until(names[0], "under way", func(hr *flux.HelmRelease) bool { return hr.Status.LastAttemptedRevision == "1.1.0" })
	killed := time.Now()
	for range 2 {
		api.Kill()
		time.Sleep(2 * time.Second)
		api.Start()
		time.Sleep(time.Second)
	}
	away := time.Since(killed)
	r.eventually("the controller goes on, here or as a new process", func() bool {
		if c.over() { // Kubernetes starts it again
			c = r.start()
		}
		for _, name := range names {
			hr := r.get(name)
			if h := hr.Status.Snapshots(); len(h) == 0 || h[0].ChartVersion != "1.1.0" || !flux.ConditionTrue(hr.Status.Conditions, "Ready") {
				return false
			}
		}
		return true
	})
	hooks := made.count()
	for _, name := range names {
		hr := r.get(name)
		r.oneDeployed(name, hr)
		h := hr.Status.Snapshots()
		if n := hooks[fmt.Sprintf("%s-%d", name, h[0].Version)]; n != 1 {
			t.Errorf("%s: %d hooks, history %+v", name, n, h)
		}
		if away < repeated && (h[0].Version != 2 || hr.Status.UpgradeFailures != 0) {
			t.Errorf("%s: failures %d, history %+v", name, hr.Status.UpgradeFailures, h)
		}
	}
	if away >= repeated {
		t.Logf("the restarts took %s: an upgrade may have needed a second attempt", away)
	} else if !t.Failed() {
		report(t, "controller API server", fmt.Sprintf("%d HelmReleases whose upgrades are under way, with the API server that the controller talks to killed (`kill -9`) twice and started again: "+
			"all converged, each with one further revision, its hook once, and no failure that counts.", n))
	}
}

// slowOfMany is slow for several releases in a namespace.
func slowOfMany(seconds string) map[string]string {
	out := slow(seconds)
	for name, text := range out {
		out[name] = strings.NewReplacer("name: web}", "name: '{{ .Release.Name }}'}", "app: web", "app: '{{ .Release.Name }}'",
			"name: hook-{{ .Release.Revision }}", "name: '{{ .Release.Name }}-{{ .Release.Revision }}'").Replace(text)
	}
	return out
}
