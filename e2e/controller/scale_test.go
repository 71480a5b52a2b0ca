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

// four returns a chart of four objects.
func four() map[string]string {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("templates/%d.yaml", i)] = fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-%d'}\ndata: {version: '{{ .Chart.Version }}'}\n", i)
	}
	return files
}

// BenchmarkScale measures what 1,000 HelmReleases cost: installing all of them at the same time, a new
// version of their chart, and a start with all of them in sync. HELMRELEASES sets another number. It
// fails if the new version of 1,000 takes longer than the four minutes of issue 16.
func BenchmarkScale(b *testing.B) {
	n := 1000
	if text := os.Getenv("HELMRELEASES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	for b.Loop() {
		r := newRig(b)
		text := fmt.Sprintf("| %d HelmReleases, four objects each%s", n, scaleHead) + r.scale(n, "", func() *process {
			var flags []string
			if *profiles != "" {
				flags = append(flags, "--pprof-addr="+pprof)
			}
			return r.start(flags...)
		})
		clustertest.Report(b, benchPage, "controller scale", text, *update)
	}
}

const scaleHead = " | time | requests of each | writes of each | processor time | peak memory |\n|---|---|---|---|---|---|\n"

// BenchmarkBesideHelmController has ours and the real helm-controller do the same, one after the other.
func BenchmarkBesideHelmController(b *testing.B) {
	const n = 100
	for b.Loop() {
		text := fmt.Sprintf("| %d HelmReleases, four objects each%s", n, scaleHead)
		r := newRig(b)
		text += r.scale(n, "ours: ", func() *process { return r.start() })
		r = newRig(b)
		text += r.scale(n, "helm-controller: ", func() *process { return r.startHelmController("--metrics-addr=0", "--concurrent=10") })
		clustertest.Report(b, benchPage, "controller beside helm-controller", text, *update)
	}
}

// scale has a controller install and upgrade n HelmReleases, and start again with them in sync. It
// returns the rows of a table, each of which begins with who.
func (r *rig) scale(n int, who string, start func() *process) string {
	r.Helper()
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
		if _, err := r.client.Resource(helmReleases).Namespace(r.namespace).Create(r.Context(), o, metav1.CreateOptions{}); err != nil {
			r.Fatal(err)
		}
	}
	var text strings.Builder
	var c *process
	from, busy := 0, time.Duration(0)
	begin := func() {
		time.Sleep(5 * time.Second) // the last passes
		from = lines(r.TB, audit)
		busy = c.processor(r.TB)
		c.forgetPeak(r.TB)
	}
	row := func(what string, took time.Duration) {
		sent := since(r.TB, from)
		fmt.Fprintf(&text, "| %s%s | %.0f s | %.1f | %.1f | %.0f s | %.0f MB |\n", who, what, took.Seconds(), float64(len(sent))/float64(n),
			float64(written(sent))/float64(n), (c.processor(r.TB) - busy).Seconds(), c.memory(r.TB, "VmHWM"))
		r.Logf("%s%s, requests of each: %s", who, what, kindsOf(sent, n))
	}
	from = lines(r.TB, audit)
	c = start()
	row("install", r.allReady(n, "1.0.0"))
	begin()
	r.publish("app", "1.1.0", four())
	took := r.allReady(n, "1.1.0")
	row("new chart version", took)
	if most := 4 * time.Minute; who == "" && n == 1000 && took > most {
		r.Errorf("a new chart version of %d HelmReleases takes %s, longer than %s", n, took, most)
	}
	upgraded := since(r.TB, from)
	if *profiles != "" && who == "" {
		profile(r.TB, filepath.Join(*profiles, fmt.Sprintf("controller-upgraded-%d", n)))
	}
	c.stop()
	from, busy = lines(r.TB, audit), 0
	c = start()
	row("start, all in sync", r.still(from, n))
	c.stop()
	if who == "" {
		fmt.Fprintf(&text, "| the new chart version's requests from a bare client | %.0f s | %.1f | %.1f | – | – |\n",
			r.floor(upgraded, n).Seconds(), float64(len(upgraded))/float64(n), float64(written(upgraded))/float64(n))
	}
	return text.String()
}

// still returns how long it takes until there were n requests, one for each HelmRelease, and no more
// come.
func (r *rig) still(from, n int) time.Duration {
	r.Helper()
	const pause = 15 * time.Second
	began := time.Now()
	sent, last := 0, began
	for time.Since(last) < pause || sent < n {
		time.Sleep(time.Second)
		if now := len(since(r.TB, from)); now != sent {
			sent, last = now, time.Now()
		}
		if time.Since(began) > time.Hour {
			r.Fatalf("it is not idle, with %d requests", sent)
		}
	}
	return last.Sub(began)
}

// kindsOf counts requests by verb and resource, per HelmRelease.
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

// processor returns the CPU time that the process has used (proc_pid_stat(5), in ticks of 10 ms).
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

// allReady returns how long it takes until n HelmReleases have the chart's version.
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

// memory returns a figure from /proc, in MB.
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
