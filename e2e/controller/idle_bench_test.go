//go:build cluster

package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// window returns how long a fleet in sync is watched: ten minutes, or $CONTROLLER_WINDOW.
func window(t testing.TB) time.Duration {
	text := os.Getenv("CONTROLLER_WINDOW")
	if text == "" {
		return 10 * time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// BenchmarkIdle measures what it costs to start with so many HelmReleases in sync, and then the window
// in which each has a pass at its interval of ten minutes. HelmReleases, statuses and records are
// written as a controller would have left them; the releases' objects do not exist, because nobody
// looks at them without drift detection. It is Check 42 with the numbers of issue 16, and fails if
// their limits are exceeded.
func BenchmarkIdle(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				idle(b, n)
			}
		})
	}
}

func idle(b *testing.B, n int) {
	r := newRig(b)
	r.publish("app", "1.0.0", four())
	r.fleet(n, "10m")
	from := lines(b, audit)
	flags := []string{"--watch-all-namespaces=true"}
	if *profiles != "" {
		flags = append(flags, "--pprof-addr="+pprof)
	}
	c := r.start(flags...)
	// The first passes are over when there was a request for each, and then none.
	idleAfter := r.still(from, n)
	started, peak := len(since(b, from)), c.memory(b, "VmHWM")
	writes := written(since(b, from))
	c.forgetPeak(b)
	from = lines(b, audit)
	span := window(b)
	time.Sleep(span)
	if c.over() {
		b.Fatal("the controller has ended")
	}
	sent, later := since(b, from), c.memory(b, "VmHWM")
	holdIdle(b, n, idleOf{after: idleAfter, window: span, requests: len(sent), writes: written(sent), peak: max(peak, later)})
	text := fmt.Sprintf("| %d HelmReleases in sync | requests | writes | longest | peak memory |\n|---|---|---|---|---|\n", n) +
		fmt.Sprintf("| start | %d | %d | %.0f s | %.0f MB |\n", started, writes, idleAfter.Seconds(), peak) +
		fmt.Sprintf("| %s | %d (%.2f/s) | %d | – | %.0f MB |\n", span, len(sent), float64(len(sent))/span.Seconds(), written(sent), later)
	clustertest.Report(b, benchPage, fmt.Sprintf("controller idle %d", n), text, *update)
	if *profiles != "" {
		profile(b, filepath.Join(*profiles, fmt.Sprintf("controller-idle-%d", n)))
	}
	c.stop()
}

// idleOf is the measured cost of a fleet in sync: how long its start took, what was sent in the window
// after it, and the peak memory of both, in MB.
type idleOf struct {
	after, window    time.Duration
	requests, writes int
	peak             float64
}

// holdIdle checks the measured cost of n HelmReleases against the limits of issue 16.
func holdIdle(b *testing.B, n int, was idleOf) {
	b.Helper()
	const start = 5 * time.Minute
	most := map[int]float64{1000: 150, 10000: 400}[n]
	if was.peak > most {
		b.Errorf("%d HelmReleases in sync take %.0f MB, more than %.0f", n, was.peak, most)
	}
	switch n {
	case 1000:
		if rate := float64(was.requests) / was.window.Seconds(); rate >= 1 {
			b.Errorf("%d HelmReleases in sync cost %.2f requests a second in %s, not less than one", n, rate, was.window)
		}
		if was.writes > 0 {
			b.Errorf("%d HelmReleases in sync cost %d writes in %s", n, was.writes, was.window)
		}
	case 10000:
		if was.after > start {
			b.Errorf("%d HelmReleases are idle %s after the start, later than %s", n, was.after, start)
		}
	}
}

// pprof is where a controller serves profiles.
const pprof = "127.0.0.1:16060"

// profile writes the heap profile of a controller that serves profiles to a file.
func profile(t testing.TB, name string) {
	t.Helper()
	response, err := http.Get("http://" + pprof + "/debug/pprof/heap?gc=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil {
		err = os.WriteFile(name, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// written counts the requests that write.
func written(sent []request) int {
	n := 0
	for _, q := range sent {
		if q.Verb != "get" && q.Verb != "list" {
			n++
		}
	}
	return n
}

// fleet creates n HelmReleases that are in sync, a hundred per namespace, as if a controller had
// installed them.
func (r *rig) fleet(n int, interval string) {
	r.Helper()
	config := cluster.Config(r.TB)
	config.QPS, config.Burst, config.WarningHandler = 1000, 1000, rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		r.Fatal(err)
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		r.Fatal(err)
	}
	store, err := releasestore.Open(core.CoreV1(), "secret", releasestore.SystemClock{})
	if err != nil {
		r.Fatal(err)
	}
	const each, hands = 100, 16
	work, ctx := errgroup.WithContext(r.Context())
	work.SetLimit(hands)
	for first := 0; first < n; first += each {
		namespace := fmt.Sprintf("%s-%d", r.namespace, first/each)
		_, err := core.CoreV1().Namespaces().Create(r.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		if err != nil {
			r.Fatal(err)
		}
		r.Cleanup(func() {
			_ = core.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})
		})
		for i := first; i < min(first+each, n); i++ {
			work.Go(func() error {
				return r.settled(ctx, objects, store.In(namespace, namespace), namespace, fmt.Sprintf("web-%d", i), interval)
			})
		}
	}
	if err := work.Wait(); err != nil {
		r.Fatal(err)
	}
}

// settled creates one HelmRelease with the status and the record of an install of four().
func (r *rig) settled(ctx context.Context, objects dynamic.Interface, store *releasestore.Store, namespace, name, interval string) error {
	values := map[string]any{"image": map[string]any{"tag": "1.0.0"}, "replicas": int64(2), "name": name}
	now := time.Now().UTC().Truncate(time.Second)
	manifest := ""
	for i := range 4 {
		manifest += fmt.Sprintf("---\n# Source: app/templates/%d.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: '%s-%d'}\ndata: {version: '1.0.0'}\n", i, name, i)
	}
	record := &release.Revision{
		Name: name, Namespace: namespace, Version: 1, Config: values, Manifest: manifest, ApplyMethod: "ssa",
		Info:  release.Info{FirstDeployed: now, LastDeployed: now, Status: release.StatusDeployed, Description: "Install complete"},
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "app", Version: "1.0.0", APIVersion: "v2"}},
	}
	if err := store.Create(ctx, record); err != nil {
		return err
	}
	sum, err := digest.Record(record, "")
	if err != nil {
		return err
	}
	config, err := digest.Values(values)
	if err != nil {
		return err
	}
	made, err := objects.Resource(helmReleases).Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": flux.HelmGroup + "/v2", "kind": flux.KindHelmRelease,
		"metadata": map[string]any{"name": name, "finalizers": []any{"finalizers.fluxcd.io"}},
		"spec": map[string]any{
			"interval": interval, "chartRef": map[string]any{"kind": flux.KindHelmChart, "name": "app", "namespace": r.namespace}, "values": values,
		},
	}}, metav1.CreateOptions{FieldManager: "kustomize-controller"})
	if err != nil {
		return err
	}
	condition := func(kind string) map[string]any {
		return map[string]any{
			"type": kind, "status": "True", "reason": "InstallSucceeded", "lastTransitionTime": now.Format(time.RFC3339), "observedGeneration": made.GetGeneration(),
			"message": fmt.Sprintf("Helm install succeeded for release %s/%s.v1 with chart app@1.0.0", namespace, name),
		}
	}
	entries := []any{}
	for i := range 4 {
		entries = append(entries, map[string]any{"id": fmt.Sprintf("%s_%s-%d__ConfigMap", namespace, name, i), "v": "v1"})
	}
	status, err := json.Marshal(map[string]any{"status": map[string]any{
		"observedGeneration": made.GetGeneration(), "lastAttemptedGeneration": made.GetGeneration(), "lastAttemptedRevision": "1.0.0",
		"lastAttemptedConfigDigest": config, "lastAttemptedReleaseAction": "install", "lastAttemptedReleaseActionDuration": "1s", "storageNamespace": namespace,
		"conditions": []any{condition("Ready"), condition("Released")}, "inventory": map[string]any{"entries": entries},
		"history": []any{map[string]any{
			"apiVersion": flux.SnapshotAPIVersion, "digest": sum, "name": name, "namespace": namespace, "version": 1, "status": "deployed", "action": "install",
			"configDigest": config, "chartName": "app", "chartVersion": "1.0.0", "firstDeployed": now.Format(time.RFC3339), "lastDeployed": now.Format(time.RFC3339),
		}},
	}})
	if err != nil {
		return err
	}
	_, err = objects.Resource(helmReleases).Namespace(namespace).Patch(ctx, name, types.MergePatchType, status, metav1.PatchOptions{FieldManager: "helm-controller"}, "status")
	return err
}

// forgetPeak resets VmHWM (proc_pid_clear_refs(5)).
func (p *process) forgetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.Process.Pid), []byte("5"), 0o200); err != nil {
		t.Fatal(err)
	}
}
