//go:build cluster

package sources_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A registry that takes tokens from a server on another origin. Everybody may pull; to push, one has to
// log in, and the credentials go only to a server that sources.yaml allows.
func TestTokens(t *testing.T) {
	tokens := sourcetest.ServeTokens(t, "u", "p")
	r := sourcetest.StartRegistry(t, sourcetest.RegistryOptions{Program: registryProgram(t), Token: tokens.URL + "/token", RootCertBundle: tokens.CertFile})
	h := newHome(t)
	file, to := h.chartFile("alpha", "1.0.0", ""), "oci://"+r.Host+"/charts"
	push := []string{"push", file, to, "--username", "u", "--password", "p"}
	h.fails(1, "asks for its credentials to be sent to", push...)
	for _, q := range tokens.Requests() {
		if q.Header.Get("Authorization") != "" {
			t.Errorf("credentials were sent: %+v", q)
		}
	}
	h.write(".config/helm/kubectl-release/sources.yaml", "realms: {\""+r.Host+"\": [\""+tokens.URL+"\"]}\n")
	h.ok(push...)
	login := func(password string, user ...string) result {
		return h.runProgram(password+"\n", append([]string{"registry", "login", r.Host, "--password-stdin"}, user...)...)
	}
	if got := login("wrong", "-u", "u"); got.code != 1 {
		t.Errorf("a wrong password: %+v", got)
	}
	if got := login("p", "-u", "u"); got.code != 0 {
		t.Fatal(got.err)
	}
	h.ok("push", h.chartFile("alpha", "1.1.0", ""), to)
	h.helm("pull", to+"/alpha", "--version", "1.1.0", "--plain-http")
	// An identity token instead of a password, and no user.
	h.ok("registry", "logout", r.Host)
	if got := login("p", "-u", ""); got.code != 0 {
		t.Fatal(got.err)
	}
	tokens.Requests()
	h.ok("push", h.chartFile("alpha", "1.2.0", ""), to)
	if !slices.ContainsFunc(tokens.Requests(), func(q sourcetest.Request) bool { return q.Method == http.MethodPost }) {
		t.Error("the identity token was not used")
	}
	// Without a login: pulling takes no credentials, pushing does.
	other := newHome(t)
	other.ok("pull", to+"/alpha:1.0.0")
	other.chartFile("alpha", "2.0.0", "")
	other.fails(11, "unauthorized", "push", "alpha-2.0.0.tgz", to)
	other.fails(10, "there is no chart", "pull", to+"/alpha:2.0.0")
}
