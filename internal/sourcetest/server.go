// Package sourcetest provides sources of charts for tests: a static repository with TLS,
// basic authentication, redirects, delays and faults, which records its requests;
// registries; and a Sigstore instance.
//
// It is not linked into the program.
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

// Repository is a static repository on 127.0.0.1.
type Repository struct {
	// URL is its address. CAFile contains its certificate if it speaks TLS.
	URL, CAFile string
	options     Options

	server *httptest.Server
	mutex  sync.Mutex
	files  map[string][]byte
	log    []Request
}

// Options configures a repository.
type Options struct {
	TLS bool
	// User and Password are required if they are set.
	User, Password string
	// Redirect maps path prefixes to the URLs that replace them.
	Redirect map[string]string
	// Delay comes before every response.
	Delay time.Duration
	// Fault may answer a request itself, and reports whether it did. n is the number of
	// earlier requests for the path.
	Fault func(w http.ResponseWriter, r *http.Request, n int) bool
	// Breaks returns after how many bytes a response breaks off, 0 for never.
	Breaks func(r *http.Request, n int) int
}

// Request is a request that was received.
type Request struct {
	Method, Path string
	Header       http.Header
	Status       int
}

// Serve starts a repository, which is stopped at the end of the test.
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

// Stop stops the repository early.
func (r *Repository) Stop() { r.server.Close() }

// Put stores a file, at a path such as "/index.yaml".
func (r *Repository) Put(path string, content []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.files[path] = content
}

// File returns the file at a path.
func (r *Repository) File(path string) []byte {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.files[path]
}

// Requests returns the requests since the last call, in order.
func (r *Repository) Requests() []Request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	out := r.log
	r.log = nil
	return out
}

// Asked returns Requests as text: "GET /index.yaml OK".
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
	// left is how many bytes are still written before the connection breaks.
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

// Unwrap lets http.NewResponseController find the Flusher.
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
