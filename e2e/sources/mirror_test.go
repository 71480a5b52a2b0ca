//go:build cluster

package sources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Charts come from mirrors of repositories and of registries, and keep their names in the lock and in
// messages. Nobody else is asked.
func TestChartsOfMirrors(t *testing.T) {
	a, r, h := repositoryA(t, sourcetest.Options{}), plainRegistry(t), newHome(t)
	h.env = append(h.env, "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1")
	h.ok("push", h.chartFile("gamma", "1.1.0", ""), "oci://"+r.Host+"/far/charts")
	h.write(".config/helm/kubectl-release/sources.yaml", "mirrors:\n- {prefix: 'https://charts.example.com/', to: '"+a.URL+"/'}\n- {prefix: 'oci://ghcr.io/acme/', to: 'oci://"+r.Host+"/far/'}\n")
	h.ok("repo", "add", "a", "https://charts.example.com/")
	for chart, told := range map[string]string{
		"a/alpha": "https://charts.example.com/alpha-1.0.0.tgz", "https://charts.example.com/alpha-1.0.0.tgz": "https://charts.example.com/alpha-1.0.0.tgz",
		"oci://ghcr.io/acme/charts/gamma": "oci://ghcr.io/acme/charts/gamma:1.1.0",
	} {
		if out := h.ok("template", "web", chart); !strings.Contains(out.err, told) {
			t.Errorf("%s: %s", chart, out.err)
		}
	}
	h.umbrella("um", "{name: alpha, version: '*', repository: 'https://charts.example.com'}", "{name: gamma, version: ^1, repository: 'oci://ghcr.io/acme/charts'}")
	h.ok("dependency", "update", "um")
	lock := h.read("um/Chart.lock")
	if !strings.Contains(lock, "repository: https://charts.example.com\n") || !strings.Contains(lock, "repository: oci://ghcr.io/acme/charts\n") || strings.Contains(lock, "127.0.0.1") {
		t.Error(lock)
	}
}

// A registry that is not on this machine is accessed without TLS if sources.yaml or a flag says so, and
// not otherwise. The test's server acts as the proxy in front of it.
func TestPlainHTTP(t *testing.T) {
	server, h := sourcetest.Serve(t, sourcetest.Options{}), newHome(t)
	server.PutImage(t, "charts/alpha", "1.0.0", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	h.env = append(h.env, "HTTP_PROXY="+server.URL, "HTTPS_PROXY="+server.URL)
	show := []string{"show", "chart", "oci://registry.internal:5000/charts/alpha:1.0.0"}
	h.fails(1, "registry.internal:5000", show...)
	if asked := server.Asked(); slices.ContainsFunc(asked, func(q string) bool { return strings.Contains(q, "/v2/") }) {
		t.Errorf("asked without TLS: %q", asked)
	}
	h.ok(append(show, "--plain-http")...)
	h.write(".config/helm/kubectl-release/sources.yaml", "plainHTTP: ['registry.internal:5000']\n")
	h.ok(show...)
}
