package command

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Dependencies that a build took from the cache are in charts/ afterwards.
func TestDependenciesFromTheCache(t *testing.T) {
	built := dependency.Outcome{Chart: "um", Changed: true, Dependencies: []dependency.Result{{Name: "a", Version: "1.0.0", New: true}}}
	for check, want := range map[bool]string{false: "a 1.0.0: from the cache\num: charts/ is up to date now\n", true: "a 1.0.0: missing from charts/\num is out of date\n"} {
		var out strings.Builder
		tellDependencies(&out, built, check)
		if out.String() != want {
			t.Errorf("check %v: %q, want %q", check, out.String(), want)
		}
	}
}

// The registry to log in to is the one that was typed; nobody is told to log in while doing
// so, or to fetch an index again that was just fetched.
func TestHintsAboutServers(t *testing.T) {
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
	said := func(hint func() string, line argv.Line) string {
		p.commandLine = &line
		return hint()
	}
	noChart := func() string { return p.hintSource(&resolve.NoChartError{Name: "web"}) }
	tampered := func() string {
		return p.hintSource(&source.UnverifiedError{What: "web", Err: &signature.OtherContentError{}})
	}
	for _, c := range []struct {
		hint func() string
		line argv.Line
		want string
	}{
		{p.hintLogin, argv.Line{Path: []string{"pull"}, Arguments: []string{"oci://ghcr.io/acme/web:1.0.0"}}, "kubectl release registry login ghcr.io, or --username and --password"},
		{p.hintLogin, argv.Line{Path: []string{"registry", "login"}, Arguments: []string{"ghcr.io"}}, "check the user name and the password; nothing was changed"},
		{noChart, argv.Line{Path: []string{"pull"}, Arguments: []string{"a/web"}}, "kubectl release repo update fetches what is new"},
		{noChart, argv.Line{Path: []string{"pull"}, Arguments: []string{"web"}, Flags: []argv.Flag{{Name: "repo"}}}, ""},
		{noChart, argv.Line{Path: []string{"dependency", "update"}}, ""},
		{tampered, argv.Line{Path: []string{"pull"}}, "what was fetched is not what was signed: ask whoever publishes the chart, and do not use it"},
	} {
		if got := said(c.hint, c.line); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.line.Path, c.line.Arguments, got, c.want)
		}
	}
}

// A server that wants a client certificate is not one that can't be reached.
func TestHintAboutAClientCertificate(t *testing.T) {
	d := atDesk(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	if a := d.types("repo add charts " + server.URL + " --insecure-skip-tls-verify"); !strings.Contains(a.err, "Hint: the chart's server wants a client certificate: --cert-file FILE and --key-file FILE") {
		t.Error(a.err)
	}
}
