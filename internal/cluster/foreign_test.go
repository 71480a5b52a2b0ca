package cluster

import (
	"strings"
	"testing"
)

// Errors about a kubeconfig that another user has written quote nothing of it, such as a proxy's password.
func TestForeignConfigQuotesNothing(t *testing.T) {
	const secret = "canary-4711"
	for name, test := range map[string]struct{ cluster, user, says string }{
		"an invalid proxy":     {`{server: "https://api.example.com", proxy-url: "ftp://me:` + secret + `@proxy.example.com"}`, "{}", "invalid"},
		"no server":            {"{}", "{token: " + secret + "}", "invalid"},
		"a program":            {`{server: "https://api.example.com"}`, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: " + secret + "}}", "runs a program"},
		"no check of the peer": {`{server: "https://` + secret + `", insecure-skip-tls-verify: true}`, "{}", "cluster one"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ForeignConfig([]byte("apiVersion: v1\nkind: Config\ncurrent-context: one\n" +
				"contexts: [{name: one, context: {cluster: one, user: one}}]\nclusters: [{name: one, cluster: " + test.cluster + "}]\nusers: [{name: one, user: " + test.user + "}]\n"))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%v, want an error with %q", err, test.says)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%v quotes the kubeconfig", err)
			}
		})
	}
}
