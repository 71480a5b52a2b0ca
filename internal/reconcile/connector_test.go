package reconcile_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Check 40: a kubeconfig that runs a program, names a file or skips certificate verification is
// refused before any of it is used, and is not quoted.
func TestCheck40KubeconfigsThatAreRefused(t *testing.T) {
	connect := reconcile.NewConnector(&rest.Config{Host: "https://local.invalid"}, cluster.Options{}, time.Now)
	const canary = "s3cr3t-canary-value"
	for _, tc := range []struct{ user, server, want string }{
		{user: "{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [-c, " + canary + "]}}", want: "runs a program"},
		{user: "{auth-provider: {name: " + canary + "}}", want: "has an auth provider"},
		{user: "{client-key: /etc/" + canary + "}", want: "names a file"},
		{user: "{tokenFile: /var/run/" + canary + "}", want: "names a file"},
		{user: "{token: " + canary + "}", server: ", certificate-authority: /etc/ca", want: "names a file"},
		{user: "{token: " + canary + "}", server: ", insecure-skip-tls-verify: true", want: "certificate verification"},
		{user: "{token: t}", server: ", proxy-url: 'ftp://me:" + canary + "@proxy.invalid'", want: "incomplete or invalid"}, // client-go quotes it
		{user: canary, want: "can't be read"},
	} {
		kubeconfig := `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://remote.invalid"` + tc.server + `}}]
users: [{name: u, user: ` + tc.user + `}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c`
		_, err := connect(t.Context(), reconcile.Access{Kubeconfig: []byte(kubeconfig)})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s%s: %v", tc.user, tc.server, err)
		}
	}
}

// When a kubeconfig is replaced, as those with short-lived tokens are again and again, its
// connection goes with it; the same kubeconfig has the same connection.
func TestConnectionsOfReplacedKubeconfigs(t *testing.T) {
	now := time.Unix(0, 0)
	connect := reconcile.NewConnector(&rest.Config{Host: "https://local.invalid"}, cluster.Options{CacheDir: t.TempDir()}, func() time.Time { return now })
	with := func(holder, token string) *reconcile.Connection {
		t.Helper()
		c, err := connect(t.Context(), reconcile.Access{Holder: holder, Kubeconfig: []byte(`
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://remote.invalid"}}]
users: [{name: u, user: {token: ` + token + `}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c`)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, other := with("Secret/shop/a", "one"), with("Secret/shop/b", "one")
	if with("Secret/shop/a", "one") != a || with("Secret/shop/b", "one") != other || a == other {
		t.Error("the same kubeconfig is connected to once more, or two share a connection")
	}
	if with("Secret/shop/a", "two") == a || with("Secret/shop/a", "one") == a {
		t.Error("a kubeconfig that was replaced is kept")
	}
	a, other = with("Secret/shop/a", "one"), with("Secret/shop/b", "one")
	now = now.Add(50 * time.Minute)
	if with("Secret/shop/a", "one") != a {
		t.Error("a connection that is used is given up")
	}
	now = now.Add(50 * time.Minute)
	if with("Secret/shop/a", "one") != a || with("Secret/shop/b", "one") == other {
		t.Error("a connection that nobody has used for an hour is kept, or one that is used is not")
	}
}

// What servers that HelmReleases name say about their API is not cached on disk, where the local cluster's is: behind
// a proxy, a server can have any address.
func TestDiscoveryOfForeignServersIsNotOnDisk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=3600")
		switch q.URL.Path {
		case "/api":
			_, _ = w.Write([]byte(`{"kind": "APIVersions", "versions": ["v1"]}`))
		case "/apis":
			_, _ = w.Write([]byte(`{"kind": "APIGroupList", "apiVersion": "v1"}`))
		default:
			_, _ = w.Write([]byte(`{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]}`))
		}
	}))
	defer server.Close()
	for name, tc := range map[string]struct {
		to   reconcile.Access
		kept bool
	}{
		"local": {kept: true},
		"kubeconfig": {to: reconcile.Access{Holder: "Secret/shop/a", Kubeconfig: []byte(`
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://local.invalid", proxy-url: "` + server.URL + `"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c`)}},
		"server": {to: reconcile.Access{Holder: "ConfigMap/shop/a", Server: &reconcile.Server{Address: server.URL, Account: "edge", Namespace: "shop"}}},
	} {
		dir := t.TempDir()
		connect := reconcile.NewConnector(&rest.Config{Host: server.URL}, cluster.Options{CacheDir: dir}, time.Now)
		c, err := connect(t.Context(), tc.to)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Cluster.Kinds(t.Context(), []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 != tc.kept {
			t.Errorf("%s: in the cache is %v, error %v", name, files, err)
		}
	}
}
