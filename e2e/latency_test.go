//go:build cluster

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// farAway is a release of 200 objects, reached over a connection with a round-trip time of 40 ms.
type farAway struct {
	cluster     *clustertest.Cluster
	connections *atomic.Int32
	plan        []string // the arguments of a plan that finds nothing to do
}

func newFarAway(t testing.TB) farAway {
	t.Helper()
	const perKind, roundTrip = 40, 40 * time.Millisecond
	chart := clustertest.ManyObjects(t, perKind)
	namespace := cluster.Namespace(t)
	must(t, cluster, clustertest.Program(t), "install", "lots", chart, "-n", namespace)
	f := farAway{cluster: &clustertest.Cluster{Binaries: cluster.Binaries}, plan: []string{"plan", "lots", chart, "-n", namespace, "--cache-dir", filepath.Join(t.TempDir(), "cache")}}
	f.cluster.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	f.connections = throughDelay(t, f.cluster.Kubeconfig, roundTrip)
	must(t, f.cluster, clustertest.Program(t), f.plan...) // fills the discovery cache
	return f
}

// TestRequestsShareConnections: a plan is a handful of round trips, and its requests share
// connections instead of each waiting for its own.
func TestRequestsShareConnections(t *testing.T) {
	t.Parallel()
	const maxConnections = 5 // one for each request that is sent before the first connection is open
	far := newFarAway(t)
	before := far.connections.Load()
	if out, _ := must(t, far.cluster, clustertest.Program(t), far.plan...); !strings.Contains(out, "No changes.") {
		t.Fatalf("the plan should find nothing to do:\n%s", out)
	}
	if n := far.connections.Load() - before; n > maxConnections {
		t.Errorf("the plan opened %d connections: requests don't share them", n)
	}
}

// BenchmarkFarFromTheCluster plans, and then changes all objects, compared with Helm 4. It is
// for a machine that does nothing else (make bench), with -benchtime 1x.
func BenchmarkFarFromTheCluster(b *testing.B) {
	program, far := clustertest.Program(b), newFarAway(b)
	best := func(program string, args func(int) []string) time.Duration {
		took := time.Hour
		for i := range 3 { // the machine does other things, too
			_, once := must(b, far.cluster, program, args(i)...)
			took = min(took, once)
		}
		return took
	}
	upgrade := func(i int) []string {
		return append([]string{"upgrade", "--set", fmt.Sprintf("mark=ours-%d", i)}, far.plan[1:]...)
	}
	planned, upgraded := best(program, func(int) []string { return far.plan }), best(program, upgrade)
	_, helms := must(b, far.cluster, cluster.Binaries.Helm4, append([]string{"upgrade", "--set", "mark=helms"}, far.plan[1:5]...)...)
	b.Logf("a plan that finds nothing takes %v and an upgrade of all %v, Helm 4's upgrade %v", planned.Round(time.Millisecond), upgraded.Round(time.Millisecond), helms.Round(time.Millisecond))
	if planned >= time.Second {
		b.Errorf("the plan took %v, want less than a second", planned)
	}
	if 10*upgraded > helms {
		b.Errorf("the upgrade took %v, which is not a tenth of Helm's %v", upgraded, helms)
	}
}

// throughDelay writes a kubeconfig whose server is a proxy that adds roundTrip
// to each exchange with the API server, including the opening of a connection. It
// counts the connections.
func throughDelay(t testing.TB, kubeconfig string, roundTrip time.Duration) *atomic.Int32 {
	t.Helper()
	config, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	near := strings.TrimSpace(cluster.Kubectl(t, "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"))
	server, err := url.Parse(near)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(server.Hostname(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	far := fmt.Sprintf("https://%s", listener.Addr())
	if err := os.WriteFile(kubeconfig, []byte(strings.ReplaceAll(string(config), near, far)), 0o600); err != nil {
		t.Fatal(err)
	}
	connections := new(atomic.Int32)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go farRelay(client, server.Host, roundTrip)
		}
	}()
	return connections
}

// farRelay connects a client with the server, roundTrip/2 away in each direction.
func farRelay(client net.Conn, server string, roundTrip time.Duration) {
	defer client.Close()
	time.Sleep(roundTrip) // opening a connection takes a round trip, too
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer upstream.Close()
	done := make(chan struct{}, 2)
	for _, way := range []struct{ from, to net.Conn }{{client, upstream}, {upstream, client}} {
		go func() {
			late(way.to, way.from, roundTrip/2)
			done <- struct{}{}
		}()
	}
	<-done
}

// late copies what it reads, each piece on its own after delay: it adds latency
// without limiting the bandwidth.
func late(to io.Writer, from io.Reader, delay time.Duration) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 64<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- piece{buffer[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil {
			return
		}
	}
}
