//go:build cluster

package controller_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// writes reports whether a request of a controller changes something that lasts: leases, events, dry
// runs and access reviews do not.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && !r.URL.Query().Has("dryRun") && !strings.Contains(r.URL.Path, "/leases") &&
		!strings.Contains(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "/selfsubject")
}

// writesLease reports whether a request of a controller writes a lease.
func writesLease(r *http.Request) bool {
	return r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/leases")
}

// answered keeps the status code of an answer.
type answered struct {
	http.ResponseWriter
	code int
}

func (a *answered) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}

// striker kills a controller right after one of its writes.
type striker struct {
	// write is the number of that write, counted from when the striker is armed; 0 kills nothing.
	write int64
	count atomic.Int64
	// seen lists the writes since it was armed, including those of leases, with their status codes.
	seen   safeBuffer
	armed  atomic.Bool
	struck atomic.Bool
	victim atomic.Pointer[process]
	// down makes every request fail, as while an API server restarts.
	down atomic.Bool
	// server is the proxy through which the API server is reached.
	server *httptest.Server
}

// behind makes the rig's next controllers reach the API server through the striker.
func (r *rig) behind(s *striker) {
	r.Helper()
	proxy := cluster.Proxy(r.TB)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if s.down.Load() {
			panic(http.ErrAbortHandler)
		}
		armed := s.armed.Load()
		switch {
		case armed && writes(q) && s.count.Add(1) == s.write:
			proxy.ServeHTTP(httptest.NewRecorder(), q) // it is done, and nobody hears of it
			_ = s.victim.Load().Process.Kill()
			s.struck.Store(true)
			panic(http.ErrAbortHandler)
		case armed && (writes(q) || writesLease(q)):
			answer := &answered{ResponseWriter: w}
			proxy.ServeHTTP(answer, q)
			_, _ = fmt.Fprintf(&s.seen, "%s %s %d\n", q.Method, q.URL.Path, answer.code)
		default:
			proxy.ServeHTTP(w, q)
		}
	}))
	s.server = server
	r.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	r.kubeconfig = clustertest.KubeconfigFor(r.TB, server.URL, r.namespace)
}
