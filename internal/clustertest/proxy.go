package clustertest

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
)

// Proxy passes requests on to the API server, with all rights, and watches as they come.
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
