package command

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// TestNetworkHints: what keeps a server from being reached has a hint of its own.
func TestNetworkHints(t *testing.T) {
	request := func(err error) error {
		return fmt.Errorf("list releases: %w", &url.Error{Op: "Get", URL: "https://api.example", Err: err})
	}
	rejected := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	expired := rejected(x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired})
	other := rejected(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api.example"})
	p := newProgram(Streams{}, "kubectl release")
	p.appFor(nil)
	p.commandLine = &argv.Line{Path: []string{"status"}}
	for want, errs := range map[string][]error{
		"unless the clock of this machine is wrong":  {request(expired), &source.UnreachedError{Err: request(expired)}},
		"--tls-server-name NAME":                     {request(other)},
		"It has a certificate for other names":       {&source.UnreachedError{Err: request(other)}},
		"--certificate-authority FILE":               {request(rejected(x509.UnknownAuthorityError{}))},
		"--ca-file FILE":                             {&source.UnreachedError{Err: request(rejected(x509.UnknownAuthorityError{}))}},
		"run it by hand to see why it fails":         {request(errors.New("getting credentials: exec: executable aws failed with exit code 255"))},
		"check HTTPS_PROXY and NO_PROXY":             {request(&net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}), request(errors.New("Proxy Authentication Required"))},
		"check the cluster and the context: kubectl": {request(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})},
		"": {request(errors.New("stopped"))},
	} {
		for _, err := range errs {
			if got := p.hint(err); !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("%v: %q, want %q", err, got, want)
			}
		}
	}
}
