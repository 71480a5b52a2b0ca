//go:build cluster

package controller_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// writes says whether a request of a controller changes what lasts: leases, events, and
// questions in the form of objects do not.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && !r.URL.Query().Has("dryRun") && !strings.Contains(r.URL.Path, "/leases") &&
		!strings.Contains(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "/selfsubject")
}

// striker kills a controller behind one of its writes.
type striker struct {
	// write is which one, counted from when it is armed; 0 kills nothing.
	write  int64
	count  atomic.Int64
	seen   safeBuffer
	armed  atomic.Bool
	struck atomic.Bool
	victim atomic.Pointer[process]
	// down has every request fail, as while an API server restarts.
	down atomic.Bool
	// server is where the API server is reached.
	server *httptest.Server
}

// behind has the rig's next controllers reach the API server through the striker.
func (r *rig) behind(s *striker) {
	r.Helper()
	proxy := cluster.Proxy(r.TB)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if s.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if s.armed.Load() && writes(q) {
			_, _ = s.seen.Write([]byte(q.Method + " " + q.URL.String() + "\n"))
		}
		if !s.armed.Load() || !writes(q) || s.count.Add(1) != s.write {
			proxy.ServeHTTP(w, q)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), q) // it is done, and nobody hears of it
		_ = s.victim.Load().Process.Kill()
		s.struck.Store(true)
		panic(http.ErrAbortHandler)
	}))
	s.server = server
	r.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	r.kubeconfig = clustertest.KubeconfigFor(r.TB, server.URL, r.namespace)
}

// created counts by their names the objects of a resource that were created in the rig's
// namespace behind so many lines of the audit log.
func (r *rig) created(resource string, line int) map[string]int {
	r.Helper()
	data, err := os.ReadFile(audit)
	if err != nil {
		r.Fatal(err)
	}
	out := map[string]int{}
	for _, text := range strings.Split(strings.TrimSpace(string(data)), "\n")[line:] {
		var e struct {
			Verb, Stage    string
			ObjectRef      struct{ Resource, Namespace, Name string }
			ResponseStatus struct{ Code int }
			RequestURI     string
		}
		if json.Unmarshal([]byte(text), &e) != nil || e.Stage != "ResponseComplete" || e.Verb != "create" && e.Verb != "patch" || e.ResponseStatus.Code != http.StatusCreated {
			continue
		}
		if o := e.ObjectRef; o.Resource == resource && o.Namespace == r.namespace && !strings.Contains(e.RequestURI, "dryRun=") {
			out[o.Name]++
		}
	}
	return out
}
