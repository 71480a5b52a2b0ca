// Package sourcetest gives tests the places where charts live: a static repository
// with TLS, basic authentication, redirects, delays and faults, that remembers what
// it was asked for.
//
// The program does not link it.
package sourcetest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Repository is a static repository on 127.0.0.1. Its fields may change while it
// serves, under Change.
type Repository struct {
	// URL is where it is; CAFile has its certificate, when it speaks TLS.
	URL, CAFile string
	options     Options

	server *httptest.Server
	mutex  sync.Mutex
	files  map[string][]byte
	log    []Request
}

// Options are a repository's ways.
type Options struct {
	TLS bool
	// User and Password are asked for, when they are set.
	User, Password string
	// Redirect leads from paths with a prefix to a URL.
	Redirect map[string]string
	// Delay is before every answer.
	Delay time.Duration
	// Fault answers a request itself, and says so. n counts the requests for the path.
	Fault func(w http.ResponseWriter, r *http.Request, n int) bool
	// Breaks says after how many bytes an answer breaks off, 0 for one that does not.
	Breaks func(r *http.Request, n int) int
}

// Request is one that was received.
type Request struct {
	Method, Path string
	Header       http.Header
	Status       int
}

// Serve starts a repository; it ends with the test.
func Serve(t testing.TB, o Options) *Repository {
	t.Helper()
	r := &Repository{options: o, files: map[string][]byte{}}
	handler := http.HandlerFunc(r.answer)
	if o.TLS {
		r.server = httptest.NewTLSServer(handler)
		r.CAFile = filepath.Join(t.TempDir(), "ca.pem")
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
		if err := os.WriteFile(r.CAFile, block, 0o644); err != nil {
			t.Fatal(err)
		}
	} else {
		r.server = httptest.NewServer(handler)
	}
	r.server.Config.ErrorLog = nil
	r.URL = r.server.URL
	t.Cleanup(r.server.Close)
	return r
}

// Stop ends it early.
func (r *Repository) Stop() { r.server.Close() }

// Put gives it a file, at a path such as "/index.yaml".
func (r *Repository) Put(path string, content []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.files[path] = content
}

// File is what it has at a path.
func (r *Repository) File(path string) []byte {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.files[path]
}

// Requests are those since the last call, in their order.
func (r *Repository) Requests() []Request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	out := r.log
	r.log = nil
	return out
}

// Asked is Requests in words: "GET /index.yaml 200".
func (r *Repository) Asked() []string {
	var out []string
	for _, q := range r.Requests() {
		out = append(out, q.Method+" "+q.Path+" "+http.StatusText(q.Status))
	}
	return out
}

type recorder struct {
	http.ResponseWriter
	status int
	// left is how many bytes are to be written before the connection breaks.
	left int
}

func (w *recorder) Write(data []byte) (int, error) {
	n, err := w.ResponseWriter.Write(data[:min(len(data), w.left)])
	if w.left -= n; w.left == 0 && err == nil {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// Unwrap lets http.NewResponseController find what flushes.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (r *Repository) answer(w http.ResponseWriter, q *http.Request) {
	time.Sleep(r.options.Delay)
	r.mutex.Lock()
	n := 0
	for _, earlier := range r.log {
		if earlier.Path == q.URL.Path {
			n++
		}
	}
	content, there := r.files[q.URL.Path]
	at := len(r.log)
	r.log = append(r.log, Request{Method: q.Method, Path: q.URL.Path, Header: q.Header.Clone()})
	r.mutex.Unlock()
	rec := &recorder{ResponseWriter: w, status: http.StatusOK, left: math.MaxInt}
	if r.options.Breaks != nil {
		if after := r.options.Breaks(q, n); after > 0 {
			rec.left = after
		}
	}
	defer func() {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		if at < len(r.log) {
			r.log[at].Status = rec.status
		}
	}()
	r.serve(rec, q, n, content, there)
}

func (r *Repository) serve(w http.ResponseWriter, q *http.Request, n int, content []byte, there bool) {
	if r.options.Fault != nil && r.options.Fault(w, q, n) {
		return
	}
	for prefix, to := range r.options.Redirect {
		if rest, ok := strings.CutPrefix(q.URL.Path, prefix); ok {
			http.Redirect(w, q, to+rest, http.StatusFound)
			return
		}
	}
	if user, password, _ := q.BasicAuth(); r.options.User != "" && (user != r.options.User || password != r.options.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !there {
		http.NotFound(w, q)
		return
	}
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("ETag", etag)
	if q.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if strings.Contains(q.URL.Path, "/manifests/") {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", "sha256:"+Digest(content))
	}
	if strings.HasSuffix(q.URL.Path, ".yaml") && strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		_, _ = zw.Write(content)
		_ = zw.Close()
		return
	}
	http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(content))
}
