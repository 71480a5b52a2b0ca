//go:build cluster

package trust

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fault is what a proxy does to a request instead of passing on its answer.
type fault struct {
	// committed sends the request to the API server first, and then spoils the
	// answer; otherwise the API server never gets the request.
	committed bool
	// strike, if set, is called at that moment.
	strike func()
	// status is the code to answer with; 0 resets the connection.
	status int
	// retryAfter is the header of that name, in seconds; empty sends none.
	retryAfter string
	// stall keeps the client waiting until it gives up.
	stall bool
	// heard lets the client get the true answer after all, after the strike.
	heard bool
}

// newProxy starts a proxy in front of the API server, with all permissions, and returns
// its URL, for --server and --kube-apiserver. It asks judge about each request, about
// several at the same time; if judge returns nil, the request is passed through.
func newProxy(t testing.TB, judge func(*http.Request) *fault) string {
	t.Helper()
	proxy := cluster.Proxy(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := judge(r)
		if f == nil {
			proxy.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		if f.committed {
			proxy.ServeHTTP(answer, r)
		}
		if f.strike != nil {
			f.strike()
		}
		switch {
		case !f.heard:
			f.spoil(w, r)
		case f.committed:
			passOn(w, answer)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// passOn sends an answer that was held back.
func passOn(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// spoil answers in the way that the fault says.
func (f *fault) spoil(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.stall:
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.status == 0:
		reset(w)
	default:
		if f.retryAfter != "" {
			w.Header().Set("Retry-After", f.retryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.status)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the test's proxy says %d","reason":%q,"code":%d}`,
			f.status, reasons[f.status], f.status)
	}
}

// reasons are the API server's reasons for the status codes that tests answer with.
var reasons = map[int]string{
	http.StatusForbidden: "Forbidden",
	http.StatusConflict:  "Conflict", http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError",
	http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusGatewayTimeout: "Timeout",
}

// reset closes a connection with a TCP reset.
func reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	connection, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// writes reports whether a request makes a lasting change; a dry run does not.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && !r.URL.Query().Has("dryRun") && !asks(r)
}

// locks reports whether a request is about a lock.
func locks(r *http.Request) bool { return strings.Contains(r.URL.Path, "/leases") }

// asks reports whether a request is a question in the form of an object: an access review.
func asks(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/selfsubjectaccessreviews") || strings.Contains(r.URL.Path, "/selfsubjectrulesreviews")
}
