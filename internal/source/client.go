package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	orasretry "oras.land/oras-go/v2/registry/remote/retry"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

const (
	// requestTimeout bounds a request including its response body, as in Helm (4.2.4,
	// pkg/getter/getter.go, DefaultHTTPTimeout), but without the pauses before it is repeated.
	requestTimeout = 120 * time.Second
	headerTimeout  = 30 * time.Second
	dialTimeout    = 10 * time.Second
	maxRedirects   = 10
	// idleTimeout is when an unused connection is closed, as in http.DefaultTransport. A program
	// that uses the SDK may go on long after a run.
	idleTimeout = 90 * time.Second
)

type clientKey struct {
	access Access
	origin string
}

// client returns an HTTP client that sends the credentials of an access to the origin of home
// and nowhere else. It is reused, with its open connections.
func (s *Sources) client(a Access, home string) (*http.Client, error) {
	u, err := url.Parse(home)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL: %w", home, err)
	}
	key := clientKey{access: a, origin: resolve.Origin(u)}
	s.mutex.Lock()
	c, known := s.clients[key]
	s.mutex.Unlock()
	if known {
		return c, nil
	}
	own, err := s.transportTo(u, a)
	if err != nil {
		return nil, err
	}
	bound := &bound{access: a, home: home, own: own, foreign: func(at *url.URL) (http.RoundTripper, error) { return s.transportTo(at, a.elsewhere()) }}
	c = patientClient(s.heard(bound, key.origin))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.clients == nil {
		s.clients = map[clientKey]*http.Client{}
	}
	s.clients[key] = c
	return c, nil
}

// heard returns a transport to an origin that says when nothing is answered, see Waiting, and takes no web page for
// an answer.
func (s *Sources) heard(over http.RoundTripper, origin string) http.RoundTripper {
	over = retry.NoPages(over)
	if s.Waiting == nil {
		return over
	}
	return (&retry.Silence{Server: origin, Say: s.Waiting}).Through(over)
}

// patientClient returns a client that repeats requests and resumes downloads. Each attempt is bounded,
// and not all of them together: a Timeout of the client would include the pauses.
func patientClient(over http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     &resuming{next: &orasretry.Transport{Base: &timed{over}, Policy: func() orasretry.Policy { return patience }}},
		CheckRedirect: redirected,
	}
}

// timed ends requests that take longer than requestTimeout, including their response bodies.
type timed struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := context.WithTimeout(r.Context(), requestTimeout)
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = &timedBody{resp.Body, end}
	return resp, nil
}

// timedBody is a response body that ends its request's context when it is closed.
type timedBody struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// redirected refuses endless redirects, and those from https to http. The target is not told where it was
// linked from (Referer): a query may hold a token.
func redirected(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("it redirects from https to %s", resolve.Public(r.URL.String()))
	}
	return nil
}

// bound adds credentials to the requests for one origin. The header is not in the
// request that net/http copies for a redirect.
type bound struct {
	access  Access
	home    string
	own     http.RoundTripper
	foreign func(*url.URL) (http.RoundTripper, error)
}

// RoundTrip implements http.RoundTripper.
func (b *bound) RoundTrip(r *http.Request) (*http.Response, error) {
	if !resolve.SameOrigin(b.home, r.URL.String()) {
		next, err := b.foreign(r.URL)
		if err != nil {
			return nil, err
		}
		return next.RoundTrip(r)
	}
	if b.access.Username != "" && b.access.Password != "" && r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.SetBasicAuth(b.access.Username, b.access.Password)
	}
	return b.own.RoundTrip(r)
}

// transportTo returns the transport to a server: with the settings in the access or, if these are zero
// or those of another server, with the remembered ones. If there are none, the CA file of the other
// server counts in addition to the system's authorities, and the certificate goes unchecked only if a
// flag says so.
func (s *Sources) transportTo(at *url.URL, a Access) (http.RoundTripper, error) {
	if a.Server != (resolve.Server{}) && !a.Elsewhere {
		return s.transport(trust{Server: a.Server})
	}
	server, file := s.remembered(at)
	if server == (resolve.Server{}) {
		return s.transport(trust{Server: resolve.Server{CAFile: a.CAFile, Insecure: a.Insecure && s.Access.Insecure}, system: true})
	}
	t, err := s.transport(trust{Server: server})
	if err != nil {
		return nil, fmt.Errorf("%s, according to %s: %w", at.Host, file, err)
	}
	return t, nil
}

// trust is the TLS configuration of a transport; with system, the system's authorities count in
// addition to those of the CA file.
type trust struct {
	resolve.Server
	system bool
}

// transport returns the transport for a trust, which is shared.
func (s *Sources) transport(of trust) (*http.Transport, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if t, known := s.transports[of]; known {
		return t, nil
	}
	config, err := of.config()
	if err != nil {
		return nil, err
	}
	if s.transports == nil {
		s.transports = map[trust]*http.Transport{}
	}
	s.transports[of] = &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       idleTimeout,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: headerTimeout,
		TLSClientConfig:       config,
	}
	return s.transports[of], nil
}

// Close closes the connections that are not in use.
func (s *Sources) Close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
}

func (t trust) config() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: t.Insecure, MinVersion: tls.VersionTLS12}
	if t.CertFile != "" && t.KeyFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	if t.CAFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA file: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if t.system {
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			return nil, fmt.Errorf("read the system's certificate authorities: %w", err)
		}
	}
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %s holds no certificates", t.CAFile)
	}
	return c, nil
}
