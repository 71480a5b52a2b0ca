//go:build cluster

package hostile

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

const (
	helmConfig   = "application/vnd.cncf.helm.config.v1+json"
	helmChart    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
)

// endlessly writes until nobody is reading any more.
func endlessly(w http.ResponseWriter, chunk string) bool {
	for {
		if _, err := w.Write([]byte(strings.Repeat(chunk, 1<<20/len(chunk)))); err != nil {
			return true
		}
	}
}

// Servers that lie about charts, or never stop: what is fetched is bounded, and what a
// server says does not reach the terminal unescaped. Where credentials go is tested in e2e/sources.
func TestCheck50HostileServers(t *testing.T) {
	archive := sourcetest.Chart(t, "web", "1.0.0", "")
	config := `"config":{"mediaType":"` + helmConfig + `","digest":"sha256:` + sourcetest.Digest([]byte("{}")) + `","size":2}`
	layer := func(kind, digest string, size int) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":"sha256:%s","size":%d}`, kind, digest, size)
	}
	chart := layer(helmChart, sourcetest.Digest(archive), len(archive))
	other := layer("application/x", sourcetest.Digest(nil), 1)
	// says returns a registry's answer for every manifest.
	says := func(kind, text string) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, q *http.Request, _ int) bool {
			if !strings.Contains(q.URL.Path, "/manifests/") {
				return false
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Docker-Content-Digest", "sha256:"+sourcetest.Digest([]byte(text)))
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			if q.Method == http.MethodGet {
				_, _ = w.Write([]byte(text))
			}
			return true
		}
	}
	manifest := func(layers string) func(http.ResponseWriter, *http.Request, int) bool {
		return says(manifestType, `{"schemaVersion":2,`+config+`,"layers":[`+layers+`]}`)
	}
	without := func(path, chunk string, status int) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, q *http.Request, _ int) bool {
			if !strings.Contains(q.URL.Path, path) {
				return false
			}
			if q.Method == http.MethodHead {
				if status != http.StatusOK {
					w.WriteHeader(status)
				}
				return status != http.StatusOK
			}
			w.WriteHeader(status)
			return endlessly(w, chunk)
		}
	}
	for name, tc := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request, int) bool
		says  string
		// http says that the chart comes from a URL, not from a registry.
		http bool
		more []string
	}{
		"an index that points to itself": {says(indexType, `{"schemaVersion":2,"mediaType":"`+indexType+`","manifests":[`+layer(indexType, sourcetest.Digest(nil), 10)+`]}`), "is not a chart", false, nil},
		"20,000 layers, none of them it": {manifest(strings.TrimSuffix(strings.Repeat(other+",", 20_000), ",")), "it has no layer", false, nil},
		"100,000 layers":                 {manifest(strings.TrimSuffix(strings.Repeat(other+",", 100_000), ",")), "MiB", false, nil},
		"layers that nest":               {manifest(strings.Repeat("[", 1_000_000)), "", false, nil},
		"a size that is not the layer's": {manifest(layer(helmChart, sourcetest.Digest(archive), len(archive)+1)), "", false, nil},
		"a layer without end":            {without("/blobs/", "x", http.StatusOK), "", false, nil},
		"a manifest without end":         {without("/manifests/", " ", http.StatusOK), "", false, nil},
		"a refusal without end":          {without("/manifests/", `{"errors":[`, http.StatusForbidden), "", false, nil},
		"a refusal with escapes": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"errors":[{"code":"DENIED","message":"\u001b[31m\u001b]0;x\u0007\u202e"}]}`))
			return true
		}, "forbidden", false, nil},
		"tags with escapes": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			_, _ = w.Write([]byte(`{"name":"x","tags":["1.0.0\u001b[31m"]}`))
			return true
		}, "", false, []string{"--version", "^1"}},
		"tags without end":          {without("/tags/", `{"name":"x","tags":["1.0.0"],`, http.StatusOK), "", false, []string{"--version", "^1"}},
		"an archive without end":    {without(".tgz", "\x00", http.StatusOK), "larger than 100 MiB", true, nil},
		"an error page without end": {without(".tgz", "x", http.StatusNotFound), "404", true, nil},
		"a redirect to itself": {func(w http.ResponseWriter, q *http.Request, _ int) bool {
			http.Redirect(w, q, q.URL.Path, http.StatusFound)
			return true
		}, "redirects more than", true, nil},
		"a redirect with escapes": {func(w http.ResponseWriter, q *http.Request, _ int) bool {
			if !strings.HasSuffix(q.URL.Path, ".tgz") {
				return false
			}
			w.Header().Set("Location", "/%1b[31m\u202e")
			w.WriteHeader(http.StatusFound)
			return true
		}, "404", true, nil},
		"a header that is long": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("X-Long", strings.Repeat("x", 20<<20))
			return false
		}, "", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server, m := sourcetest.Serve(t, sourcetest.Options{Fault: tc.fault}), newMachine(t)
			server.PutImage(t, "charts/web", "1.0.0", archive)
			server.Put("/web-1.0.0.tgz", archive)
			ref := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/web"
			if tc.http {
				ref = server.URL + "/web-1.0.0.tgz"
			} else if tc.more == nil {
				ref += ":1.0.0"
			}
			m.unharmed(t, hostile{Says: tc.says}, append([]string{"template", "web", ref}, tc.more...)...)
			if found, err := filepath.Glob(filepath.Join(m.dir, ".cache/helm/content/*/*.chart")); err != nil || len(found) > 0 {
				t.Errorf("%q is left, %v", found, err)
			}
		})
	}
	// The configuration is not fetched, so its size does not matter.
	server, m := sourcetest.Serve(t, sourcetest.Options{Fault: says(manifestType, `{"schemaVersion":2,"config":`+layer(helmConfig, sourcetest.Digest(nil), 1<<30)+`,"layers":[`+chart+`]}`)}), newMachine(t)
	server.PutImage(t, "charts/web", "1.0.0", archive)
	if u := clustertest.Measure(t, m.env, clustertest.Program(t), "template", "web", "oci://"+strings.TrimPrefix(server.URL, "http://")+"/charts/web:1.0.0"); u.ExitCode != 0 {
		t.Errorf("a configuration of a gigabyte: %s", u.Stderr)
	}
}
