package clustertest

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
)

// Proxy returns a handler that forwards requests to the API server with all permissions, and
// streams watches without buffering.
func (c *Cluster) Proxy(t testing.TB) http.Handler {
	t.Helper()
	config := c.Config(t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		ErrorLog:      log.New(io.Discard, "", 0),
		FlushInterval: -1,
	}
}

// KubeconfigFor writes a kubeconfig for the server at a URL, with a namespace.
func KubeconfigFor(t testing.TB, server, namespace string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: %q}}]
current-context: c
`, server, namespace)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
