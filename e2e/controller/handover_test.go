//go:build cluster

package controller_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// startHelmController runs the real helm-controller for the rig's namespace until the test ends:
// without a lease, which it only takes in a pod.
func (r *rig) startHelmController(flags ...string) *process {
	r.Helper()
	program, err := cluster.Binaries.Tool(r.Context(), "helm-controller", r.Output())
	if err != nil {
		r.Fatal(err)
	}
	return launch(r.TB, exec.Command(program, append([]string{
		"--health-addr=0", "--watch-all-namespaces=false", "--http-retry=1", "--requeue-dependency=2s",
	}, flags...)...), append(cluster.Environment(), "KUBECONFIG="+cluster.Kubeconfig, "RUNTIME_NAMESPACE="+r.namespace, "TMPDIR="+r.TempDir()))
}

// left returns what a controller leaves behind: the HelmReleases' statuses, without transition times,
// and the kinds' objects, as they were last written.
func (r *rig) left(kinds string) (out []string) {
	r.Helper()
	for _, name := range []string{"web", "broken"} {
		status, err := json.MarshalIndent(r.get(name).Object["status"], "", " ")
		if err != nil {
			r.Fatal(err)
		}
		out = append(out, name+" "+times.ReplaceAllString(string(status), ""))
	}
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON([]byte(r.kubectl("get", kinds, "-o", "json", "--show-managed-fields"))); err != nil {
		r.Fatal(err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		if out = append(out, objecttest.Written(r.TB, o)); o.GetKind() == flux.KindHelmRelease { // whose status the controllers write
			out = append(out, o.GetResourceVersion())
		}
	}
	return out
}

// queued matches a metric of controller-runtime: something waits for a pass.
var queued = regexp.MustCompile(`(?m)^workqueue_depth\{controller="helmrelease".*\} [1-9]`)

var times = regexp.MustCompile(`"lastTransitionTime": .*`)

// passed waits until a controller's metrics count a pass over each HelmRelease.
func (r *rig) passed(metrics string) {
	r.Helper()
	r.eventually("there was a pass over each HelmRelease", func() bool {
		_, text := fetch(r.TB, metrics, "/metrics")
		return strings.Count(text, "gotk_reconcile_duration_seconds_count{") == 2
	})
}

// atRest waits until no HelmRelease is in the middle of a pass, and the controller with these metrics
// is working on none: helm-controller trims the history after it has said that all is well.
func (r *rig) atRest(metrics string) {
	r.Helper()
	for _, name := range []string{"web", "broken"} {
		r.until(name, "settled", func(hr *flux.HelmRelease) bool { return flux.Condition(hr.Status.Conditions, "Reconciling") == nil })
	}
	r.eventually("no pass is under way", func() bool {
		_, text := fetch(r.TB, metrics, "/metrics")
		return strings.Contains(text, `controller_runtime_active_workers{controller="helmrelease"} 0`) && !queued.MatchString(text)
	})
}

// Check 47, with the real helm-controller: what one controller left in sync, the other one finds in
// sync, several times back and forth, and what one has given up on, the other one does not try again.
// Neither makes a revision, touches a record or an object, sees drift, or says anything else in the
// status; our passes do not write the HelmRelease, either. Each goes on with the next version of the
// chart, and deletes what the other one has made.
func TestCheck47HandOverWithHelmController(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("app", "1.0.0", slow("1s"))
	r.publish("broken", "1.0.0", settings(""))
	metrics := porttest.FreeAddress(t)
	now := r.startHelmController("--metrics-addr=" + metrics)
	r.release("web", "driftDetection: {mode: enabled}")
	cluster.Apply(t, r.namespace, `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: broken}
spec: {interval: 10m, timeout: 30s, chartRef: {kind: HelmChart, name: broken}}`)
	r.ready("web", "1.0.0")
	r.ready("broken", "1.0.0")
	r.publish("broken", "1.1.0", settings(", n: 1")) // which the API server refuses
	r.until("broken", "stalled", func(hr *flux.HelmRelease) bool { return flux.ConditionTrue(hr.Status.Conditions, "Stalled") })
	const written = "secrets,configmaps,deployments,jobs"
	for i, next := range []struct {
		start   func(...string) *process
		kinds   string
		version string
	}{
		{r.start, written + ",helmreleases", "1.1.0"},
		{r.startHelmController, written, "1.2.0"}, // it writes what it is doing, each time
		{r.start, written + ",helmreleases", "1.3.0"},
	} {
		r.atRest(metrics)
		now.stop()
		before := r.left(next.kinds)
		metrics = porttest.FreeAddress(t)
		now = next.start("--metrics-addr=" + metrics)
		r.passed(metrics)
		if diff := cmp.Diff(before, r.left(next.kinds)); diff != "" {
			t.Errorf("hand-over %d: %s", i+1, diff)
		}
		r.publish("app", next.version, slow("1s"))
		if hr := r.ready("web", next.version); hr.Status.Snapshots()[0].Version != i+2 {
			t.Errorf("history %+v", hr.Status.Snapshots())
		}
	}
	now.stop()
	r.startHelmController("--metrics-addr=0")
	r.remove("web", "broken")
	if left := r.kubectl("get", "secrets,configmaps,deployments", "-o", "name"); left != "configmap/kube-root-ca.crt" {
		t.Errorf("left behind: %s", left)
	}
}
