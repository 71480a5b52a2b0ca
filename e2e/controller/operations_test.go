//go:build cluster

package controller_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// fetch sends a request to a server of the controller. Without an answer, the status code is 0.
func fetch(t testing.TB, address, path string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// A controller reports that it is alive and ready, and in metrics what it does, under the names that
// dashboards for Flux use. Profiles are served only if a flag asks for them, and logs are lines of
// JSON.
func TestOperation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	health, metrics, pprof := porttest.FreeAddress(t), porttest.FreeAddress(t), porttest.FreeAddress(t)
	c := r.start("--health-addr="+health, "--metrics-addr="+metrics)
	r.release("web", "")
	r.ready("web", "1.0.0")
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, text := fetch(t, health, path); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	for _, name := range []string{
		fmt.Sprintf("gotk_reconcile_duration_seconds_count{kind=%q,name=%q,namespace=%q}", "HelmRelease", "web", r.namespace),
		`controller_runtime_reconcile_total{controller="helmrelease",result="success"}`,
		`controller_runtime_max_concurrent_reconciles{controller="helmrelease"}`,
		`workqueue_depth{controller="helmrelease"`, `leader_election_master_status{name="helm-controller-leader-election"} 1`,
		`rest_client_requests_total{code="200"`, "kubectl_release_unchanged_passes_total", "kubectl_release_rendering_bytes", "process_resident_memory_bytes", "go_goroutines",
	} {
		r.eventually("/metrics has "+name, func() bool { // a pass is counted once it has ended
			_, text := fetch(t, metrics, "/metrics")
			return strings.Contains(text, name)
		})
	}
	for _, address := range []string{health, metrics} {
		if code, _ := fetch(t, address, "/debug/pprof/"); code == http.StatusOK {
			t.Error("profiles are served at", address)
		}
	}
	r.remove("web")
	r.eventually("the metrics of a HelmRelease go with it", func() bool {
		_, text := fetch(t, metrics, "/metrics")
		return !strings.Contains(text, `name="web"`)
	})
	c.stop()
	for _, line := range strings.Split(strings.TrimSpace(c.log.String()), "\n") {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["time"] == nil || entry["level"] == nil || entry["msg"] == nil {
			t.Errorf("a line of the log is %s", line)
		}
	}
	with := r.start("--pprof-addr="+pprof, "--log-encoding=console", "--log-level=error")
	r.eventually("profiles are served", func() bool {
		code, _ := fetch(t, pprof, "/debug/pprof/")
		return code == http.StatusOK
	})
	with.stop()
	if text := with.log.String(); strings.Contains(text, "level=INFO") {
		t.Errorf("with --log-level=error the log has %s", text)
	}
}

// A controller that is told to end in the middle of an upgrade ends and gives back its lease, so the
// next one begins immediately and continues the same revision. (TestTimeToEnd checks that it has 20
// seconds for that.)
func TestGracefulEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", slow("1s"))
	c := r.start()
	r.release("web", "timeout: 5m, upgrade: {remediation: {retries: 3}}")
	r.ready("web", "1.0.0")
	r.publish("app", "1.1.0", slow("8s"))
	r.underway("web", 2)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.ended()
	if holder := r.kubectl("get", "lease", "helm-controller-leader-election", "-o", "jsonpath={.spec.holderIdentity}"); holder != "" {
		t.Errorf("the lease is still held by %s", holder)
	}
	r.start()
	hr := r.ready("web", "1.1.0")
	r.oneDeployed("web", hr)
	if hr.Status.Snapshots()[0].Version != 2 || hr.Status.Failures != 0 {
		t.Errorf("failures %d, history %+v", hr.Status.Failures, hr.Status.Snapshots())
	}
}

// ended waits for a process that has just been told to end, and checks that it ends cleanly: within the
// 20 seconds that it gives itself; it reports what takes longer as a failure.
func (p *process) ended() {
	p.t.Helper()
	select {
	case err := <-p.done:
		if p.done <- err; err != nil {
			p.t.Error(err)
		}
	case <-time.After(patience):
		p.t.Fatal("it does not end")
	}
}

// A controller that is told to end in the middle of a long wait leaves its revision pending and
// unlocked: the next one takes it over without having to wait for a lease, and continues it.
func TestGracefulEndInAWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", slow("1s"))
	c := r.start()
	r.release("web", "timeout: 30m")
	r.ready("web", "1.0.0")
	hooks := r.hooks()
	r.publish("app", "1.1.0", slow("1200s"))
	r.underway("web", 2)
	deployed := func() string {
		return r.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.metadata.annotations.version}")
	}
	r.eventually("the Deployment is waited for", func() bool { return deployed() == "1.1.0" })
	holder := func() string {
		return r.kubectl("get", "lease", "kubectl-release.web", "--ignore-not-found", "-o", "jsonpath={.spec.holderIdentity}")
	}
	first := holder()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.ended()
	if got := holder(); got != "" || first == "" {
		t.Errorf("the release's lock is held by %q, before by %q", got, first)
	}
	if got := r.kubectl("get", "lease", "helm-controller-leader-election", "-o", "jsonpath={.spec.holderIdentity}"); got != "" {
		t.Errorf("the lease is still held by %s", got)
	}
	r.start()
	r.eventually("the next one is at work on it", func() bool { now := holder(); return now != "" && now != first })
	if got := r.kubectl("get", "secret", "sh.helm.release.v1.web.v2", "-o", "jsonpath={.metadata.labels.status}"); got != "pending-upgrade" {
		t.Errorf("revision 2 is %s", got)
	}
	r.publish("app", "1.2.0", slow("1s"))
	hr := r.ready("web", "1.2.0")
	if n := hooks.count(); n["hook-2"] != 1 || hr.Status.Failures != 0 {
		t.Errorf("hooks %v, failures %d", n, hr.Status.Failures)
	}
	r.oneDeployed("web", hr)
}

// The memory that passes take is limited by what their charts render to, whatever their number: here,
// twenty-four of a chart of a few lines that renders to a megabyte.
func TestMemoryIsBoundedByBytesRendered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", twentyConfigMaps(`{{ repeat 52000 "x" }}`))
	c := r.start("--memory-budget=33554432")
	const n = 24
	for i := range n {
		r.release(fmt.Sprintf("web-%d", i), "")
	}
	for i := range n {
		r.ready(fmt.Sprintf("web-%d", i), "1.0.0")
	}
	const most = 250
	if peak := c.memory(t, "VmHWM"); peak > most {
		t.Errorf("the controller has taken %.0f MB, more than %d", peak, most)
	} else {
		t.Logf("the controller has taken %.0f MB", peak)
	}
}
