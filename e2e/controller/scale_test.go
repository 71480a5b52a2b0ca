//go:build cluster

package controller_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// four is a chart of four objects.
func four() map[string]string {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("templates/%d.yaml", i)] = fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-%d'}\ndata: {version: '{{ .Chart.Version }}'}\n", i)
	}
	return files
}

// BenchmarkScale says what 1,000 HelmReleases cost: their installs, a new chart version
// for all, and two minutes in sync, in which each is passed over twice. The figures are
// in docs/bench.md; HELMRELEASES sets another number.
func BenchmarkScale(b *testing.B) {
	n := 1000
	if text := os.Getenv("HELMRELEASES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	for b.Loop() {
		r := newRig(b)
		r.publish("app", "1.0.0", four())
		for i := range n {
			o := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": flux.HelmGroup + "/v2", "kind": flux.KindHelmRelease,
				"metadata": map[string]any{"name": fmt.Sprintf("web-%d", i), "namespace": r.namespace},
				"spec": map[string]any{
					"interval": "1m", "timeout": "5m", "chartRef": map[string]any{"kind": flux.KindHelmChart, "name": "app"},
					"values": map[string]any{"index": int64(i)},
				},
			}}
			if _, err := r.client.Resource(helmReleases).Namespace(r.namespace).Create(b.Context(), o, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		c := r.start("--kube-api-qps=1000", "--kube-api-burst=1000")
		b.ReportMetric(r.allReady(n, "1.0.0").Seconds(), "install-s")
		b.ReportMetric(c.memory(b, "VmHWM"), "install-peak-MB")
		r.publish("app", "1.1.0", four())
		b.ReportMetric(r.allReady(n, "1.1.0").Seconds(), "upgrade-s")
		b.ReportMetric(c.memory(b, "VmHWM"), "peak-MB")
		time.Sleep(2 * time.Minute) // every pass after what was written
		from := lines(b, audit)
		const window = 2 * time.Minute
		time.Sleep(window)
		writes := 0
		sent := since(b, from)
		for _, q := range sent {
			if q.Verb != "get" && q.Verb != "list" {
				writes++
			}
		}
		b.ReportMetric(float64(len(sent))/window.Seconds(), "requests/s")
		b.ReportMetric(float64(writes), "writes")
		b.ReportMetric(c.memory(b, "VmRSS"), "sync-MB")
		c.stop()
		c = r.start("--kube-api-qps=1000", "--kube-api-burst=1000")
		time.Sleep(time.Minute)
		b.ReportMetric(c.memory(b, "VmRSS"), "restarted-MB")
		c.stop()
	}
}

// allReady is how long it takes until so many HelmReleases have the chart's version.
func (r *rig) allReady(n int, version string) time.Duration {
	r.Helper()
	began := time.Now()
	for {
		all, err := r.client.Resource(helmReleases).Namespace(r.namespace).List(r.Context(), metav1.ListOptions{})
		if err != nil {
			r.Fatal(err)
		}
		ready := 0
		for _, o := range all.Items {
			hr, err := flux.DecodeHelmRelease(o.Object)
			if err != nil {
				r.Fatal(err)
			}
			h := hr.Status.Snapshots()
			if flux.ConditionTrue(hr.Status.Conditions, "Ready") && len(h) > 0 && h[0].ChartVersion == version && h[0].Status == "deployed" {
				ready++
			}
		}
		if ready == n {
			return time.Since(began)
		}
		if time.Since(began) > 30*time.Minute {
			r.Fatalf("%d of %d are ready with %s", ready, n, version)
		}
		time.Sleep(time.Second)
	}
}

// memory is a figure of /proc in MB.
func (p *process) memory(t testing.TB, field string) float64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == field+":" {
			kb, _ := strconv.ParseFloat(words[1], 64)
			return kb / 1024
		}
	}
	return 0
}
