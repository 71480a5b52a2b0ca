//go:build cluster

package flux_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// Check 47, with the real helm-controller: it installs the recorded HelmReleases that are in sync after
// their first step (without -soak, every third of them), ours takes over, and helm-controller comes
// back, twice. No switch makes a revision, writes a record or an object, or ends in another status. In
// between, ours makes a revision of each, which helm-controller finds in sync as if it were its own.
func TestCheck47RecordedToAndFro(t *testing.T) {
	local := prepared(t)
	served := &artifacts{content: map[string][]byte{}}
	server := httptest.NewServer(served)
	defer server.Close()
	served.url = server.URL
	metrics := porttest.FreeAddress(t)
	stop := startHelmController(t, metrics)
	var handed []*replay
	recorded, nth := 0, rand.IntN(3)
	for _, trace := range replayable(t) {
		step := trace.Steps[0]
		if hr := step.HelmRelease; hr == nil || !flux.ConditionTrue(hr.Status.Conditions, "Ready") || hr.Spec.Upgrade != nil && hr.Spec.Upgrade.PreserveValues {
			continue
		}
		if recorded++; !*soak && recorded%3 != nth {
			continue
		}
		r := &replay{t: t, trace: trace, objects: dynamic.NewForConfigOrDie(cluster.Config(t)), local: local, served: served}
		r.namespaces()
		r.apply(step)
		r.commit(step)
		handed = append(handed, r)
	}
	const enough = 20 // the recorded traces are next to the project, in ../shared/flux
	if all := len(replayable(t)); recorded < enough && all > enough || all == 0 && os.Getenv("CI") != "" {
		t.Fatalf("%d HelmReleases can be handed over, want %d", recorded, enough)
	}
	for _, r := range handed {
		r.inSync()
	}
	for i := range 4 {
		atRest(t, metrics, 0)
		stop()
		before := left(handed)
		metrics = porttest.FreeAddress(t)
		if i%2 == 0 {
			log := startController(t, "--watch-all-namespaces=true", "--metrics-addr="+metrics)
			stop = func() { log() }
		} else {
			stop = startHelmController(t, metrics)
		}
		atRest(t, metrics, len(handed))
		if diff := cmp.Diff(before, left(handed)); diff != "" {
			t.Errorf("switch %d: %s", i+1, diff)
		}
		if i == 2 {
			for _, r := range handed {
				r.force()
			}
		}
	}
	stop()
	t.Logf("%d HelmReleases", len(handed))
}

// inSync waits until the trace's HelmRelease is in sync.
func (r *replay) inSync() {
	first := r.trace.Steps[0].HelmRelease.Metadata
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		hr, err := flux.DecodeHelmRelease(r.get(helmReleases, first.Namespace, first.Name).Object)
		if err != nil {
			r.t.Fatal(err)
		}
		if flux.ConditionTrue(hr.Status.Conditions, "Ready") && hr.Status.ObservedGeneration == hr.Metadata.Generation {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s is not in sync: %+v", r.trace.Name, hr.Status.Conditions)
		}
	}
}

// force has the trace's HelmRelease released once more.
func (r *replay) force() {
	first := r.trace.Steps[0].HelmRelease.Metadata
	const at = "to-and-fro"
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q, %q: %q}}}`, flux.AnnotationRequestedAt, at, flux.AnnotationForceAt, at)
	if _, err := r.objects.Resource(helmReleases).Namespace(first.Namespace).Patch(context.Background(), first.Name, mergePatch, []byte(patch), metav1.PatchOptions{}); err != nil {
		r.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		hr, err := flux.DecodeHelmRelease(r.get(helmReleases, first.Namespace, first.Name).Object)
		if err != nil {
			r.t.Fatal(err)
		}
		if hr.Status.LastHandledForceAt == at && flux.ConditionTrue(hr.Status.Conditions, "Ready") && flux.Condition(hr.Status.Conditions, "Reconciling") == nil && hr.Status.Snapshots()[0].Version == 2 {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s was not released once more: %+v", r.trace.Name, hr.Status)
		}
	}
}

// left returns what a controller leaves behind: the statuses, without transition times, and records and
// objects, as they were last written.
func left(all []*replay) (out []string) {
	for _, r := range all {
		for _, space := range r.spaces() {
			list, err := r.objects.Resource(helmReleases).Namespace(space).List(context.Background(), metav1.ListOptions{})
			if err != nil {
				r.t.Fatal(err)
			}
			for _, o := range list.Items {
				status, err := json.MarshalIndent(o.Object["status"], "", " ")
				if err != nil {
					r.t.Fatal(err)
				}
				out = append(out, space+"/"+o.GetName()+" "+sinceWhen.ReplaceAllString(string(status), ""))
			}
			for _, kind := range compared {
				in := r.objects.Resource(resourceOf(kind)).Namespace(space)
				if kind == crdKind {
					continue
				}
				list, err := in.List(context.Background(), metav1.ListOptions{})
				if err != nil {
					r.t.Fatal(err)
				}
				for i := range list.Items {
					if o := &list.Items[i]; o.GetKind() != "Pod" || len(o.GetOwnerReferences()) == 0 {
						out = append(out, objecttest.Written(r.t, o))
					}
				}
			}
		}
		crds, err := r.objects.Resource(resourceOf(crdKind)).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
		for i := range crds.Items {
			if o := &crds.Items[i]; r.scenarios(o) {
				out = append(out, objecttest.Written(r.t, o))
			}
		}
	}
	slices.Sort(out)
	return out
}

var sinceWhen = regexp.MustCompile(`"lastTransitionTime": .*`)

// startHelmController runs the real helm-controller with the recorder's flags, until the test ends or
// it is stopped. It takes no lease, because it is not in a pod.
func startHelmController(t *testing.T, metrics string) (stop func()) {
	t.Helper()
	program, err := cluster.Binaries.Tool(t.Context(), "helm-controller", t.Output())
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--health-addr=0", "--watch-all-namespaces=true", "--http-retry=1", "--requeue-dependency=5s", "--concurrent=12", "--metrics-addr="+metrics)
	c.Env = append(cluster.Environment(), "KUBECONFIG="+cluster.Kubeconfig, "RUNTIME_NAMESPACE=default", "TMPDIR="+t.TempDir())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// queued matches a metric of controller-runtime: something waits for a pass.
var queued = regexp.MustCompile(`(?m)^workqueue_depth\{controller="helmrelease".*\} [1-9]`)

// atRest waits until the controller with these metrics has made a pass over at least the given number
// of HelmReleases, and is working on none.
func atRest(t *testing.T, metrics string, passed int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(500 * time.Millisecond) {
		text := scrape(t, metrics)
		if strings.Count(text, "gotk_reconcile_duration_seconds_count{") >= passed &&
			strings.Contains(text, `controller_runtime_active_workers{controller="helmrelease"} 0`) && !queued.MatchString(text) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the controller is not at rest:\n%s", text)
		}
	}
}

// scrape returns the metrics, "" while nobody serves them.
func scrape(t *testing.T, metrics string) string {
	t.Helper()
	response, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(data)
}
