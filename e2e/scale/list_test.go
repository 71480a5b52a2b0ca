//go:build cluster

package scale

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// BenchmarkList lists the releases of a namespace that has a thousand, with ten revisions
// each, compared with Helm 4.
func BenchmarkList(b *testing.B) {
	const releases, revisions, rounds = 1000, 10, 3
	program, namespace := clustertest.Program(b), cluster.Namespace(b)
	storeRecords(b, namespace, releases, revisions)
	runs := map[string][]clustertest.Usage{}
	for range rounds {
		for _, p := range []string{program, cluster.Binaries.Helm4} {
			u := measured(b, p, []string{"list", "--max", "0", "--namespace", namespace})
			if n := strings.Count(u.Stdout, "deployed"); n != releases {
				b.Fatalf("%s lists %d releases, want %d", p, n, releases)
			}
			runs[p] = append(runs[p], u)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "| list of %d releases, %d revisions each | time | CPU | memory |\n|---|---|---|---|\n", releases, revisions)
	for _, p := range []struct{ name, program string }{{"ours", program}, {"Helm 4.3.1", cluster.Binaries.Helm4}} {
		of := runs[p.program]
		fmt.Fprintf(&text, "| %s | %s | %.2f s | %d MB |\n", p.name, times(of), median(of, cpu).Seconds(), peak(of))
	}
	clustertest.Report(b, filepath.Join("..", "..", "docs", "bench.md"), "list", text.String(), *update)
}

// storeRecords writes the given number of revisions for each of the releases, each with a
// manifest of a few kilobytes.
func storeRecords(b *testing.B, namespace string, releases, revisions int) {
	config := cluster.Config(b)
	config.QPS = -1
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	store, err := releasestore.Open(client, "", releasestore.SystemClock{})
	if err != nil {
		b.Fatal(err)
	}
	var group errgroup.Group
	group.SetLimit(inFlight)
	for i := range releases {
		for version := 1; version <= revisions; version++ {
			status := release.StatusSuperseded
			if version == revisions {
				status = release.StatusDeployed
			}
			r := &release.Revision{
				Name: fmt.Sprintf("web-%d", i), Namespace: namespace, Version: version,
				Info:     release.Info{Status: status, FirstDeployed: time.Unix(0, 0), LastDeployed: time.Unix(int64(version), 0), Description: "Upgrade complete"},
				Chart:    &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}},
				Manifest: strings.Repeat(fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web-%d\ndata:\n  key: value-%d\n", i, version), 40),
			}
			group.Go(func() error { return store.Create(b.Context(), r) })
		}
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}
