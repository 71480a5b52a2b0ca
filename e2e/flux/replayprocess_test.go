//go:build cluster

package flux_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/pack"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

var soak = flag.Bool("soak", false, "replay all traces with the controller's process, and hand all over to and fro")

// often are the traces that the process always replays: a failed upgrade that is rolled back, drift,
// suspend and deletion, dependsOn, annotations. All traces are replayed without a process, too.
var often = []string{"07-upgrade-fails-rollback", "12-drift", "17-suspend-resume-delete", "18-depends-on", "19-annotations"}

// The controller as a process, with the recorder's flags, arrives at what was recorded, too: all traces
// at the same time, their artifacts on a server, the steps in order.
func TestTracesAreReplayedByTheProcess(t *testing.T) {
	local := prepared(t)
	log := startController(t, "--requeue-dependency=5s", "--compatible", "--http-retry=1")
	served := &artifacts{content: map[string][]byte{}}
	server := httptest.NewServer(served)
	defer server.Close()
	served.url = server.URL
	t.Run("traces", func(t *testing.T) {
		for _, trace := range replayable(t) {
			if !*soak && !slices.Contains(often, trace.Name) {
				continue
			}
			t.Run(trace.Name, func(t *testing.T) {
				t.Parallel()
				r := &replay{t: t, trace: trace, objects: dynamic.NewForConfigOrDie(cluster.Config(t)), local: local, served: served}
				r.namespaces()
				r.steps(r.settles)
			})
		}
	})
	if t.Failed() {
		t.Log(log())
	}
}

// startController runs the controller until the test ends; the returned function ends it and returns
// its log.
func startController(t *testing.T, flags ...string) (log func() string) {
	t.Helper()
	var text bytes.Buffer
	c := exec.Command(clustertest.Controller(t), append([]string{
		"--runtime-namespace=default", "--metrics-addr=0", "--health-addr=0", "--cache-dir=" + t.TempDir(),
	}, flags...)...)
	c.Env = append(cluster.Environment(), "KUBECONFIG="+cluster.Kubeconfig)
	c.Stderr = &text
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	t.Cleanup(end)
	return func() string { end(); return text.String() }
}

// artifacts serves charts.
type artifacts struct {
	url     string
	mu      sync.Mutex
	content map[string][]byte
}

// ServeHTTP implements http.Handler.
func (a *artifacts) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	a.mu.Lock()
	data, ok := a.content[q.URL.Path]
	a.mu.Unlock()
	if !ok {
		http.NotFound(w, q)
		return
	}
	_, _ = w.Write(data)
}

// put serves a chart under its digest.
func (a *artifacts) put(data []byte) (url, digest string) {
	sum := sha256.Sum256(data)
	digest = hex.EncodeToString(sum[:])
	a.mu.Lock()
	defer a.mu.Unlock()
	a.content["/"+digest] = data
	return a.url + "/" + digest, "sha256:" + digest
}

// publish points the status of a source to the test's server, if it points to a recorded chart and does
// not have a digest that is wrong on purpose.
func (r *replay) publish(o *unstructured.Unstructured) {
	artifact, ok, _ := unstructured.NestedMap(o.Object, "status", "artifact")
	if r.served == nil || !ok {
		return
	}
	source, err := flux.DecodeSource(o.Object)
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := r.chart(source)
	if err != nil {
		return // nobody can load it
	}
	data, err := r.archive(c, source)
	if err != nil {
		r.t.Fatal(err)
	}
	artifact["url"], artifact["digest"] = r.served.put(data)
	artifact["size"] = int64(len(data))
	if err := unstructured.SetNestedMap(o.Object, artifact, "status", "artifact"); err != nil {
		r.t.Fatal(err)
	}
}

// archive packages a chart. That of a commit gets the version and the values that source-controller
// gave it.
func (r *replay) archive(c *chart.Chart, s *flux.Source) ([]byte, error) {
	if len(r.commits) == 0 {
		return pack.Archive(c, pack.Options{})
	}
	values, err := yaml.Marshal(c.Values)
	if err != nil {
		return nil, err
	}
	c.Raw = append(slices.DeleteFunc(c.Raw, func(f *chart.File) bool { return f.Name == "values.yaml" }), &chart.File{Name: "values.yaml", Data: values})
	return pack.Archive(c, pack.Options{Version: s.Status.Artifact.Revision})
}

// Waits of a replay by the process: how long a step may take, and how long its outcome has to last.
const (
	patience = 10 * time.Minute
	settled  = 2 * time.Second
)

// settles waits until a step has arrived at what was recorded and stays there.
func (r *replay) settles(step *fluxtest.Step) {
	diff, since := "", time.Time{}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		r.events = r.heard()
		if diff = r.difference(step); diff != "" {
			since = time.Time{}
			continue
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > settled {
			return
		}
	}
	r.t.Errorf("%s (-want +got):\n%s", step.Name, diff)
}

// heard returns the events of the trace's HelmReleases since the last step.
func (r *replay) heard() (out []reconcile.Event) {
	for _, e := range r.kubernetesEvents() {
		if e.Count > r.told[string(e.UID)] {
			out = append(out, reconcile.Event{Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason, Message: e.Message})
		}
	}
	return out
}

func (r *replay) kubernetesEvents() (out []corev1.Event) {
	for _, space := range r.spaces() {
		list, err := r.local.CoreV1().Events(space).List(context.Background(), metav1.ListOptions{FieldSelector: "involvedObject.kind=" + flux.KindHelmRelease})
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, list.Items...)
	}
	return out
}

// begins notes which events exist before a step.
func (r *replay) begins() {
	r.told = map[string]int32{}
	if r.served == nil {
		return
	}
	for _, e := range r.kubernetesEvents() {
		r.told[string(e.UID)] = e.Count
	}
}
