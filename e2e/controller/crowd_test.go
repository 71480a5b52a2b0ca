//go:build cluster

package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Many HelmReleases at the same time (fifty with -soak) whose artifact is missing at first, an API
// server that goes away in the middle, and a controller that is told to end and starts again: all of
// them converge, with one further revision and each hook run once.
func TestFaultsInACrowd(t *testing.T) {
	t.Parallel()
	crowd := 16
	if *soak {
		crowd = 50
	}
	r, s := newRig(t), &striker{}
	r.behind(s)
	files := func() map[string]string {
		out := settings("")
		out["templates/hook.yaml"] = `
apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-{{ .Release.Revision }}"
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: hook, image: hook}]}}}
`
		return out
	}
	r.publish("app", "1.0.0", files())
	c := r.start()
	began := time.Now()
	for i := range crowd {
		r.release(fmt.Sprintf("web-%d", i), "timeout: 3m, upgrade: {remediation: {retries: 3}}")
	}
	all := func(version string) (ready, begun int, odd []string) {
		list, err := r.client.Resource(helmReleases).Namespace(r.namespace).List(r.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			hr, err := flux.DecodeHelmRelease(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			h := hr.Status.Snapshots()
			if hr.Status.LastAttemptedRevision == version {
				begun++
			}
			if flux.ConditionTrue(hr.Status.Conditions, "Ready") && len(h) > 0 && h[0].ChartVersion == version {
				if ready++; hr.Status.UpgradeFailures > 0 || h[0].Status != "deployed" {
					odd = append(odd, fmt.Sprintf("%s: failures %d, %+v", hr, hr.Status.Failures, h[0]))
				}
			}
		}
		return ready, begun, odd
	}
	r.crowdUntil("the chart's first version is released", func() bool { n, _, _ := all("1.0.0"); return n == crowd })
	made := r.hooks()

	data := archive(t, "app", "1.1.0", files())
	r.source("app", "1.1.0", r.server.URL+"/app-1.1.0.tgz", data) // which is not there yet
	r.eventually("the artifact is missed", func() bool {
		return strings.Contains(r.kubectl("get", "hr", "web-0", "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].message}"), "artifact not found")
	})
	r.mu.Lock()
	r.artifacts["/app-1.1.0.tgz"] = data
	r.mu.Unlock()
	r.crowdUntil("some are under way", func() bool { _, begun, _ := all("1.1.0"); return begun > crowd/5 })
	s.down.Store(true)
	s.server.CloseClientConnections()
	time.Sleep(2 * time.Second) // shorter than the leader's lease
	s.down.Store(false)
	r.crowdUntil("more are under way", func() bool { _, begun, _ := all("1.1.0"); return begun > crowd/2 })
	c.stop()
	r.start()
	r.crowdUntil("all have the new version", func() bool { n, _, _ := all("1.1.0"); return n == crowd })
	took := time.Since(began).Round(time.Second)
	if _, _, odd := all("1.1.0"); len(odd) > 0 {
		t.Error(strings.Join(odd, "\n"))
	}
	hooks := made.count()
	for i := range crowd {
		name := fmt.Sprintf("web-%d", i)
		if hooks[name+"-2"] != 1 || hooks[name+"-3"] != 0 {
			t.Errorf("hooks of %s: %d, and %d of a further revision", name, hooks[name+"-2"], hooks[name+"-3"])
		}
	}
	statuses := strings.Fields(r.kubectl("get", "secret", "-l", "owner=helm", "-o", "jsonpath={.items[*].metadata.labels.status}"))
	count := map[string]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count["deployed"] != crowd || count["superseded"] != crowd || len(statuses) != 2*crowd {
		t.Errorf("records: %v", count)
	}
	if !t.Failed() {
		report(t, "controller crowd", fmt.Sprintf("%d HelmReleases at once, a source artifact that is not there at first, an API server that is gone for two seconds, a controller that is told to end in the middle and another one: "+
			"converged in %s, each with one further revision and its hook once.", crowd, took))
	}
}

// crowdUntil is eventually for a crowd: it looks less often.
func (r *rig) crowdUntil(what string, is func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if is() {
			return
		}
	}
	r.Fatalf("it does not come to this: %s", what)
}
