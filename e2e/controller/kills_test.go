//go:build cluster

package controller_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// hooked returns a chart with a Deployment, a ConfigMap that the next version removes, and hooks before
// and after them: for each event, one that stays and one that is deleted.
func hooked(version string) map[string]string {
	job := func(name, moment, policy string) string {
		return fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {helm.sh/hook: "%s", helm.sh/hook-delete-policy: "%s"}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: hook, image: hook}]}}}
---`, name, moment, policy)
	}
	files := slow("1s")
	files["templates/web.yaml"] = strings.Split(files["templates/web.yaml"], "\n---\n")[0]
	files["templates/hooks.yaml"] = job("migrate", "pre-install,pre-upgrade", "before-hook-creation") +
		job("check", "pre-install,pre-upgrade", "before-hook-creation,hook-succeeded") +
		job("announce", "post-install,post-upgrade", "before-hook-creation") +
		job("clean", "post-install,post-upgrade", "before-hook-creation,hook-succeeded")
	files["templates/"+version+".yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: only-" + version + "}\ndata: {version: '{{ .Chart.Version }}'}\n"
	return files
}

// upgradeKilled upgrades a release whose controller is killed right after the given write and replaced
// by another one; 0 kills none. It returns how many writes the upgrade had, and whether the given one
// was reached.
func upgradeKilled(t *testing.T, write int) (writes int, struck bool) {
	r, s := newRig(t), &striker{write: int64(write)}
	r.behind(s)
	r.publish("app", "1.0.0", hooked("one"))
	s.victim.Store(r.start())
	r.release("web", "timeout: 3m, upgrade: {remediation: {retries: 3}}")
	r.ready("web", "1.0.0")
	hooks := r.hooks()
	s.armed.Store(true)
	r.publish("app", "1.1.0", hooked("two"))
	if write > 0 {
		r.eventually("the upgrade is killed or over", func() bool {
			return s.struck.Load() || s.victim.Load().over() || strings.Contains(r.kubectl("get", "hr", "web", "-o", "jsonpath={.status.history[0].chartVersion} {.status.conditions[?(@.type=='Ready')].status}"), "1.1.0 True")
		})
		s.armed.Store(false)
		s.victim.Load().kill()
		r.start()
	}
	hr := r.ready("web", "1.1.0")
	r.oneDeployed("web", hr)
	if h := hr.Status.Snapshots(); h[0].Version != 2 || h[0].Status != "deployed" || hr.Status.Failures != 0 {
		t.Errorf("it was not gone on with: failures %d, history %+v", hr.Status.Failures, h)
	}
	ran := hooks.count()
	for _, hook := range []string{"migrate", "check", "announce", "clean"} {
		if n := ran[hook]; n != 1 {
			t.Errorf("hook %s ran %d times", hook, n)
		}
	}
	if got := r.kubectl("get", "job,cm,deployment", "-o", "name"); got != "job.batch/announce\njob.batch/migrate\nconfigmap/kube-root-ca.crt\nconfigmap/only-two\ndeployment.apps/web" {
		t.Errorf("there are %s", got)
	}
	r.eventually("nobody holds the release's lock", func() bool {
		return r.kubectl("get", "lease", "kubectl-release.web", "--ignore-not-found", "-o", "name") == ""
	})
	return int(s.count.Load()), s.struck.Load()
}

// A controller that is killed after any write of an upgrade leaves something that the next one can
// continue: the same revision, each hook once, one record deployed.
func TestCheck43KilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	n, _ := upgradeKilled(t, 0)
	every := 1
	if !*soak {
		every = (n + 2) / 3
	}
	var struck, runs atomic.Int64
	began := time.Now()
	t.Run("kills", func(t *testing.T) {
		for write := 1 + rand.IntN(every); write <= n; write += every {
			t.Run(fmt.Sprintf("behind write %d of %d", write, n), func(t *testing.T) {
				t.Parallel()
				runs.Add(1)
				if _, hit := upgradeKilled(t, write); hit {
					struck.Add(1)
				}
			})
		}
	})
	if runs.Load() > 0 && struck.Load() == 0 {
		t.Error("no upgrade was killed before it had ended")
	}
	if !t.Failed() {
		report(t, "controller kill sweep", fmt.Sprintf("%d runs of an upgrade with %d writes, of which %d were killed before they had ended, took %s: the next process went on with the same revision, "+
			"each of the four hooks ran once, one record was deployed, no lock left.", runs.Load(), n, struck.Load(), time.Since(began).Round(time.Second)))
	}
}

// report logs a result and, with -update, makes it a section of docs/trust.md.
func report(t *testing.T, section, text string) {
	t.Helper()
	clustertest.Report(t, filepath.Join("..", "..", "docs", "trust.md"), section, text, *update)
}
