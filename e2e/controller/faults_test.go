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
// namespace behind so many lines of the audit log. A creation whose client was cut off is no 201
// there, though the object is made: the next one is told that it is there already, or somebody
// deletes it.
func (r *rig) created(resource string, line int) map[string]int {
	r.Helper()
	data, err := os.ReadFile(audit)
	if err != nil {
		r.Fatal(err)
	}
	out, there := map[string]int{}, map[string]bool{}
	for _, text := range strings.Split(strings.TrimSpace(string(data)), "\n")[line:] {
		var e struct {
			Verb, Stage    string
			ObjectRef      struct{ Resource, Namespace, Name string }
			ResponseStatus struct{ Code int }
			RequestURI     string
		}
		if json.Unmarshal([]byte(text), &e) != nil || e.Stage != "ResponseComplete" {
			continue
		}
		o := e.ObjectRef
		if o.Resource != resource || o.Namespace != r.namespace || strings.Contains(e.RequestURI, "dryRun=") {
			continue
		}
		switch code := e.ResponseStatus.Code; e.Verb {
		case "create", "patch":
			if code == http.StatusCreated {
				out[o.Name]++
			}
			there[o.Name] = there[o.Name] || e.Verb == "create" && code == http.StatusConflict
		case "delete":
			there[o.Name] = there[o.Name] || code == http.StatusOK
		}
	}
	for name, was := range there {
		if was && out[name] == 0 {
			out[name] = 1
		}
	}
	return out
}
