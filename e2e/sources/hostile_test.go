//go:build cluster

package sources_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// The name in Chart.yaml becomes that of the folder: one that leads elsewhere is refused, and nothing
// is written. The hostile archives are in e2e/hostile.
func TestCheck48Untar(t *testing.T) {
	for _, name := range []string{".", "..", "a/b", `a\b`, "", "-"} {
		server := sourcetest.Serve(t, sourcetest.Options{})
		server.Put("/x-1.0.0.tgz", sourcetest.Archive(t, "x", map[string]string{"Chart.yaml": "apiVersion: v2\nname: '" + name + "'\nversion: 1.0.0\n", "values.yaml": "a: b\n"}))
		h := newHome(t)
		h.write("dir/there", "")
		r := h.k("pull", server.URL+"/x-1.0.0.tgz", "--untar", "-d", "dir")
		if tree := h.tree("dir"); name != "-" && (r.code != 1 || len(tree) != 1) {
			t.Errorf("%q: %+v\n%v", name, r, tree)
		}
		if name == "-" && (r.code != 0 || !h.exists("dir/-/values.yaml")) {
			t.Errorf("a name that is harmless: %+v", r)
		}
	}
}

// lying starts a registry that has chart charts/alpha but lies about it, and returns the chart's
// reference.
func lying(t *testing.T, lie func(w http.ResponseWriter, q *http.Request) bool) string {
	t.Helper()
	server := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, q *http.Request, _ int) bool {
		if lie(w, q) {
			return true
		}
		if q.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	}})
	server.PutImage(t, "charts/alpha", "1.0.0", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	return "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/alpha"
}

// A registry that lies causes an error, and no other server gets credentials.
func TestCheck50LyingRegistry(t *testing.T) {
	foreign := sourcetest.Serve(t, sourcetest.Options{})
	foreign.Put("/blob", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	realm := func(at string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+at+`",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
	}
	manifest := func(size, digest string) func(http.ResponseWriter, *http.Request) bool {
		text := `{"schemaVersion":2,"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"sha256:` + sourcetest.Digest([]byte("{}")) + `","size":2},"layers":[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":"` + digest + `","size":` + size + `}]}`
		return func(w http.ResponseWriter, q *http.Request) bool {
			if !strings.Contains(q.URL.Path, "/manifests/") {
				return false
			}
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", "sha256:"+sourcetest.Digest([]byte(text)))
			http.ServeContent(w, q, "", time.Time{}, strings.NewReader(text))
			return true
		}
	}
	good := "sha256:" + sourcetest.Digest(sourcetest.Chart(t, "alpha", "1.0.0", ""))
	for name, tc := range map[string]struct {
		lie  func(http.ResponseWriter, *http.Request) bool
		says string
		args []string
	}{
		"a realm of the cloud":  {realm("http://169.254.169.254/latest"), "link-local", nil},
		"a realm elsewhere":     {realm(foreign.URL + "/token"), "asks for its credentials to be sent to", nil},
		"a layer of 2^62 bytes": {manifest("4611686018427387904", good), "larger than 100 MiB", nil},
		"no algorithm":          {manifest("10", strings.TrimPrefix(good, "sha256:")), "not one of SHA-256", nil},
		"SHA-512":               {manifest("10", "sha512:"+strings.Repeat("0", 128)), "not one of SHA-256", nil},
		"other bytes": {func(w http.ResponseWriter, q *http.Request) bool {
			if !strings.Contains(q.URL.Path, "/blobs/") {
				return false
			}
			_, _ = w.Write(bytes.Repeat([]byte("x"), len(foreign.File("/blob"))))
			return true
		}, "was promised", nil},
		"tags without end": {func(w http.ResponseWriter, q *http.Request) bool {
			w.Header().Set("Link", `<`+q.URL.Path+`?last=x>; rel="next"`)
			_, _ = w.Write([]byte(`{"name":"x","tags":["1.0.0"]}`))
			return true
		}, "has no end", []string{"--version", "^1"}},
		"a chart that is elsewhere": {func(w http.ResponseWriter, q *http.Request) bool {
			if !strings.Contains(q.URL.Path, "/blobs/") {
				return false
			}
			http.Redirect(w, q, foreign.URL+"/blob", http.StatusTemporaryRedirect)
			return true
		}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			ref, h := lying(t, tc.lie), newHome(t)
			if tc.args == nil {
				tc.args = []string{"--version", "1.0.0"}
			}
			args := append([]string{"template", "web", ref, "--username", "u", "--password", "p"}, tc.args...)
			if tc.says == "" {
				h.ok(args...) // it has the digest that was promised
			} else {
				h.fails(map[bool]int{true: 8, false: 1}[tc.says == "was promised"], tc.says, args...)
			}
			for _, q := range foreign.Requests() {
				if q.Header.Get("Authorization") != "" {
					t.Errorf("credentials went elsewhere: %+v", q)
				}
			}
		})
	}
}
