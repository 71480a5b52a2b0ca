//go:build cluster

package scale

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// flow counts a program's requests, as a proxy sees them.
type flow struct {
	requests, inFlight, most atomic.Int64
}

// watched starts a proxy in front of the API server, with all permissions, and returns its counts
// and URL. A request is over when its answer has arrived, before it is passed on: a client that gets an
// answer may send the next request before this server notices. Watches, which never end, are not
// counted as in flight.
func watched(t *testing.T) (*flow, string) {
	t.Helper()
	f, proxy := &flow{}, cluster.Proxy(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		if r.URL.Query().Has("watch") {
			proxy.ServeHTTP(w, r)
			return
		}
		now := f.inFlight.Add(1)
		for most := f.most.Load(); now > most && !f.most.CompareAndSwap(most, now); most = f.most.Load() {
		}
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		f.inFlight.Add(-1)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	return f, server.URL
}

// TestRequestsInFlight: no more requests are in flight at a time than the limit says, apart from
// those that read the facts and renew the lock, and with --qps no more are sent than it
// allows.
func TestRequestsInFlight(t *testing.T) {
	const beside = 4
	program, chart := clustertest.Program(t), generatedChart(t)
	namespace := cluster.Namespace(t)
	for _, line := range []string{"install lots CHART --set objects=400", "upgrade lots CHART --set objects=400,mark=x", "upgrade lots CHART --set objects=400,mark=x", "uninstall lots --wait"} {
		f, server := watched(t)
		args := append(strings.Fields(strings.ReplaceAll(line, "CHART", chart)), "--namespace", namespace, "--server", server)
		if u := cluster.Measure(t, program, args...); u.ExitCode != 0 {
			t.Fatalf("%s: exit code %d\n%s", line, u.ExitCode, u.Stderr)
		}
		t.Logf("%s: %d requests, at most %d at once", line, f.requests.Load(), f.most.Load())
		if most := f.most.Load(); most > retry.Concurrency+beside {
			t.Errorf("%s: %d requests were under way at once, want at most %d", line, most, retry.Concurrency)
		}
	}

	const rate, burst = 50, 20
	f, server := watched(t)
	began := time.Now()
	if u := cluster.Measure(t, program, "install", "lots", chart, "--set", "objects=100", "--namespace", cluster.Namespace(t), "--server", server, "--qps", "50", "--burst-limit", "20"); u.ExitCode != 0 {
		t.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
	}
	if allowed := int64(burst + rate*time.Since(began).Seconds()); f.requests.Load() > allowed {
		t.Errorf("%d requests were sent in a time for which --qps allows %d", f.requests.Load(), allowed)
	}
}
