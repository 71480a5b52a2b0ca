package reconcile_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Check 40: a kubeconfig that runs a program, names a file or leaves out the check of
// certificates is refused before anything of it is used, and not quoted.
func TestCheck40KubeconfigsThatAreRefused(t *testing.T) {
	connect := reconcile.NewConnector(&rest.Config{Host: "https://local.invalid"}, cluster.Options{})
	const canary = "s3cr3t-canary-value"
	for _, tc := range []struct{ user, server, want string }{
		{user: "{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [-c, " + canary + "]}}", want: "runs a program"},
		{user: "{auth-provider: {name: " + canary + "}}", want: "has an auth provider"},
		{user: "{client-key: /etc/" + canary + "}", want: "names a file"},
		{user: "{tokenFile: /var/run/" + canary + "}", want: "names a file"},
		{user: "{token: " + canary + "}", server: ", certificate-authority: /etc/ca", want: "names a file"},
		{user: "{token: " + canary + "}", server: ", insecure-skip-tls-verify: true", want: "check of certificates"},
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
