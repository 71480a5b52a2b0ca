//go:build cluster

package controller_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
)

var (
	helmReleases = schema.GroupVersionResource{Group: flux.HelmGroup, Version: "v2", Resource: "helmreleases"}
	helmCharts   = schema.GroupVersionResource{Group: flux.SourceGroup, Version: "v1", Resource: "helmcharts"}
)

// patience is how long a test waits for anything: what takes longer hangs.
const patience = 5 * time.Minute

// rig is a namespace with an artifact server, and clients.
type rig struct {
	testing.TB
	namespace string
	server    *httptest.Server
	// kubeconfig is the controllers' kubeconfig, "" for the cluster's.
	kubeconfig string
	client     dynamic.Interface

	mu        sync.Mutex
	artifacts map[string][]byte
	// downloads counts what was asked for, whether it exists or not.
	downloads int
}

var installed sync.Once

func newRig(t testing.TB) *rig {
	t.Helper()
	installed.Do(func() {
		for _, file := range crds() {
			cluster.Kubectl(t, "apply", "--server-side", "-f", file)
		}
		cluster.Kubectl(t, "wait", "--for=condition=Established", "crd", "--all", "--timeout="+patience.String())
	})
	client, err := dynamic.NewForConfig(cluster.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, namespace: cluster.Namespace(t), client: client, artifacts: map[string][]byte{}}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.server.Close)
	return r
}

func (r *rig) serve(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	r.downloads++
	data, ok := r.artifacts[request.URL.Path]
	r.mu.Unlock()
	if !ok {
		http.NotFound(w, request)
		return
	}
	_, _ = w.Write(data)
}

// process is a running controller.
type process struct {
	*exec.Cmd
	t    testing.TB
	log  *safeBuffer
	done chan error
}

// safeBuffer is written to by a process and read by a test.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start runs the controller for the rig's namespace until the test ends.
func (r *rig) start(flags ...string) *process {
	r.Helper()
	return startController(r.TB, r.kubeconfig, append([]string{
		"--runtime-namespace", r.namespace, "--watch-all-namespaces=false",
	}, flags...)...)
}

func startController(t testing.TB, kubeconfig string, flags ...string) *process {
	t.Helper()
	return startControllerIn(t, append(cluster.Environment(), "KUBECONFIG="+cmp.Or(kubeconfig, cluster.Kubeconfig)), flags...)
}

// startControllerIn starts the controller with the rights of the environment's kubeconfig.
func startControllerIn(t testing.TB, environment []string, flags ...string) *process {
	t.Helper()
	return launch(t, exec.Command(clustertest.Controller(t), append([]string{
		"--metrics-addr=0", "--health-addr=0", "--cache-dir=" + t.TempDir(), "--http-retry=1", "--requeue-dependency=2s",
	}, flags...)...), environment)
}

// launch runs a controller until the test ends.
func launch(t testing.TB, command *exec.Cmd, environment []string) *process {
	t.Helper()
	p := &process{Cmd: command, t: t, log: &safeBuffer{}, done: make(chan error, 1)}
	p.Env = environment
	p.Stdout, p.Stderr = p.log, p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Log(p.log.String())
		}
	})
	return p
}

// stop ends the process as Kubernetes does, and waits for it.
func (p *process) stop() { p.end(syscall.SIGTERM) }

// kill ends it immediately.
func (p *process) kill() { p.end(syscall.SIGKILL) }

func (p *process) end(s syscall.Signal) {
	_ = p.Process.Signal(s)
	select {
	case err := <-p.done:
		p.done <- err
	case <-time.After(patience):
		_ = p.Process.Kill()
		p.t.Errorf("the controller did not end on %s", s)
	}
}

// publish serves a chart as the artifact of the HelmChart with its name.
func (r *rig) publish(name, version string, files map[string]string) {
	r.Helper()
	data := archive(r.TB, name, version, files)
	path := fmt.Sprintf("/%s-%s.tgz", name, version)
	r.mu.Lock()
	r.artifacts[path] = data
	r.mu.Unlock()
	r.source(name, version, r.server.URL+path, data)
}

// source writes a HelmChart with the status that source-controller would write.
func (r *rig) source(name, version, url string, data []byte) {
	r.Helper()
	sum := sha256.Sum256(data)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": flux.SourceGroup + "/v1", "kind": flux.KindHelmChart, "metadata": map[string]any{"name": name, "namespace": r.namespace},
		"spec": map[string]any{
			"chart": name, "version": version, "interval": "1h",
			"sourceRef": map[string]any{"kind": flux.KindHelmRepository, "name": "none"},
		},
	}}
	charts := r.client.Resource(helmCharts).Namespace(r.namespace)
	live, err := charts.Apply(r.Context(), name, o, metav1.ApplyOptions{FieldManager: "test", Force: true})
	if err != nil {
		r.Fatal(err)
	}
	r.status(live, version, url, "sha256:"+hex.EncodeToString(sum[:]), len(data))
}

func (r *rig) status(live *unstructured.Unstructured, version, url, digest string, size int) {
	r.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	status := map[string]any{"status": map[string]any{
		"observedGeneration": live.GetGeneration(), "observedChartName": live.GetName(),
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact", "lastTransitionTime": now,
			"observedGeneration": live.GetGeneration(),
		}},
		"artifact": map[string]any{
			"url": url, "digest": digest, "revision": version, "path": "x.tgz", "lastUpdateTime": now, "size": size,
		},
	}}
	data, err := json.Marshal(status)
	if err != nil {
		r.Fatal(err)
	}
	_, err = r.client.Resource(helmCharts).Namespace(r.namespace).Patch(r.Context(), live.GetName(), types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if err != nil {
		r.Fatal(err)
	}
}

// archive packs a chart.
func archive(t testing.TB, name, version string, files map[string]string) []byte {
	t.Helper()
	all := map[string]string{"Chart.yaml": fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)}
	for path, text := range files {
		all[path] = text
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for path, text := range all {
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + path, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// release applies a HelmRelease of chart app; spec is further YAML for its spec, in flow style.
func (r *rig) release(name, spec string) {
	r.Helper()
	cluster.Apply(r.TB, r.namespace, fmt.Sprintf(`
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %s}
spec: {interval: 10m, timeout: 5m, chartRef: {kind: HelmChart, name: app}, %s}
`, name, spec))
}

// remove deletes HelmReleases, and waits until they are gone.
func (r *rig) remove(names ...string) {
	r.Helper()
	r.kubectl(append([]string{"delete", "hr", "--timeout=" + patience.String()}, names...)...)
}

// get returns the HelmRelease, nil if it is gone.
func (r *rig) get(name string) *flux.HelmRelease {
	r.Helper()
	o, err := r.client.Resource(helmReleases).Namespace(r.namespace).Get(r.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	hr, err := flux.DecodeHelmRelease(o.Object)
	if err != nil {
		r.Fatal(err)
	}
	return hr
}

// until waits until the HelmRelease is as required, and returns it.
func (r *rig) until(name, what string, is func(*flux.HelmRelease) bool) *flux.HelmRelease {
	r.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if hr := r.get(name); hr != nil && is(hr) {
			return hr
		}
	}
	hr := r.get(name)
	text, _ := json.MarshalIndent(hr, "", " ")
	r.Fatalf("%s is not %s:\n%s", name, what, text)
	return nil
}

// ready waits until the current generation is released with the chart's version.
func (r *rig) ready(name, version string) *flux.HelmRelease {
	r.Helper()
	return r.until(name, "ready with "+version, func(hr *flux.HelmRelease) bool {
		h := hr.Status.Snapshots()
		return flux.ConditionTrue(hr.Status.Conditions, "Ready") && hr.Metadata.Generation == hr.Status.ObservedGeneration &&
			len(h) > 0 && h[0].ChartVersion == version
	})
}

// eventually waits for anything else.
func (r *rig) eventually(what string, is func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if is() {
			return
		}
	}
	r.Fatalf("it does not come to this: %s", what)
}

func (r *rig) kubectl(args ...string) string {
	r.Helper()
	return strings.TrimSpace(cluster.Kubectl(r.TB, append([]string{"-n", r.namespace}, args...)...))
}

// over reports whether the process has ended.
func (p *process) over() bool {
	select {
	case err := <-p.done:
		p.done <- err
		return true
	default:
		return false
	}
}
