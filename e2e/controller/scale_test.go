//go:build cluster

package controller_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
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

// BenchmarkScale says what 1,000 HelmReleases cost: their installs at once, and a new
// version of their chart. HELMRELEASES sets another number.
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
					"interval": "10m", "timeout": "5m", "chartRef": map[string]any{"kind": flux.KindHelmChart, "name": "app"},
					"values": map[string]any{"index": int64(i)},
				},
			}}
			if _, err := r.client.Resource(helmReleases).Namespace(r.namespace).Create(b.Context(), o, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		var text strings.Builder
		fmt.Fprintf(&text, "| %d HelmReleases, four objects each | time | requests of each | writes of each | processor time | peak memory |\n|---|---|---|---|---|---|\n", n)
		from := lines(b, audit)
		flags := slices.Clone(usualLease)
		if *profiles != "" {
			flags = append(flags, "--pprof-addr="+pprof)
		}
		c := r.start(flags...)
		row := func(what string, took time.Duration) {
			sent := since(b, from)
			fmt.Fprintf(&text, "| %s | %.0f s | %.1f | %.1f | %.0f s | %.0f MB |\n", what, took.Seconds(),
				float64(len(sent))/float64(n), float64(written(sent))/float64(n), c.processor(b).Seconds(), c.memory(b, "VmHWM"))
			b.Logf("requests of each: %s", kindsOf(sent, n))
		}
		row("install", r.allReady(n, "1.0.0"))
		time.Sleep(5 * time.Second) // the last passes
		from = lines(b, audit)
		c.forgetPeak(b)
		r.publish("app", "1.1.0", four())
		row("new chart version", r.allReady(n, "1.1.0"))
		if *profiles != "" {
			profile(b, filepath.Join(*profiles, fmt.Sprintf("controller-upgraded-%d", n)))
		}
		clustertest.Report(b, benchPage, "controller scale", text.String(), *update)
		c.stop()
	}
}

// kindsOf counts requests by verb and resource, for each HelmRelease.
func kindsOf(sent []request, n int) string {
	counted := map[string]int{}
	for _, q := range sent {
		path, _, _ := strings.Cut(q.RequestURI, "?")
		kind := path
		if _, rest, ok := strings.Cut(path, "/namespaces/"); ok {
			kind = "namespaces"
			if parts := strings.Split(rest, "/"); len(parts) > 1 {
				kind = parts[1]
			}
		}
		name := q.Verb + " " + kind
		if strings.HasSuffix(path, "/status") {
			name += "/status"
		}
		if strings.Contains(q.RequestURI, "dryRun") {
			name += " (dry run)"
		}
		counted[name]++
	}
	var out []string
	for name, times := range counted {
		if times*10 > n {
			out = append(out, fmt.Sprintf("%.1f %s", float64(times)/float64(n), name))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// processor is the time that the process has had (proc_pid_stat(5), in ticks of 10 ms).
func (p *process) processor(t testing.TB) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	const user, system, tick = 11, 12, 10 * time.Millisecond
	a, _ := strconv.Atoi(fields[user])
	b, _ := strconv.Atoi(fields[system])
	return time.Duration(a+b) * tick
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
