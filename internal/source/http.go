package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Access is how a server is spoken to: what a repository's entry or the flags of a
// command say.
type Access struct {
	Username, Password string
	// PassAll sends the credentials to other origins, too, when an index names them;
	// never where a redirect leads.
	PassAll bool
	// CertFile and KeyFile count together. CAFile takes the place of the system's.
	CertFile, KeyFile, CAFile string
	Insecure                  bool
	PlainHTTP                 bool
}

// accessOf is what a repository's entry says.
func accessOf(r resolve.Repository) Access {
	return Access{
		Username: r.Username, Password: r.Password, PassAll: r.PassCredentialsAll,
		CertFile: r.CertFile, KeyFile: r.KeyFile, CAFile: r.CAFile, Insecure: r.InsecureSkipTLSVerify,
	}
}

// or is the access itself, or the other one where nothing is said.
func (a Access) or(other Access) Access {
	if a == (Access{}) {
		return other
	}
	return a
}

const (
	// requestTimeout bounds a request with all that comes back, as in Helm.
	requestTimeout = 120 * time.Second
	headerTimeout  = 30 * time.Second
	dialTimeout    = 10 * time.Second
	maxRedirects   = 10
)

// client speaks to servers with an access whose credentials are for the origin of
// home and nobody else.
func (a Access) client(home string) (*http.Client, error) {
	own, err := a.transport(true)
	if err != nil {
		return nil, err
	}
	foreign := own
	if a.CertFile != "" {
		if foreign, err = a.transport(false); err != nil {
			return nil, err
		}
	}
	bound := &bound{access: a, home: home, own: own, foreign: foreign}
	return &http.Client{
		Transport: &resuming{next: &retry.Transport{Base: bound, Policy: func() retry.Policy { return patience }}},
		Timeout:   requestTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) >= maxRedirects:
				return fmt.Errorf("it redirects more than %d times", maxRedirects)
			case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
				return fmt.Errorf("it redirects from https to %s", resolve.Public(r.URL.String()))
			}
			return nil
		},
	}, nil
}

// transport is one of TLS settings; certified says whether the client's certificate
// is shown.
func (a Access) transport(certified bool) (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: headerTimeout,
		TLSClientConfig:       &tls.Config{InsecureSkipVerify: a.Insecure, MinVersion: tls.VersionTLS12},
	}
	if certified && a.CertFile != "" && a.KeyFile != "" {
		cert, err := tls.LoadX509KeyPair(a.CertFile, a.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{cert}
	}
	if a.CAFile != "" {
		pem, err := os.ReadFile(a.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the CA file: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA file %s holds no certificates", a.CAFile)
		}
	}
	return t, nil
}

// bound adds credentials to the requests for one origin. The header is not part of
// the request that net/http copies for a redirect.
type bound struct {
	access       Access
	home         string
	own, foreign http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b *bound) RoundTrip(r *http.Request) (*http.Response, error) {
	if !resolve.SameOrigin(b.home, r.URL.String()) {
		return b.foreign.RoundTrip(r)
	}
	if b.access.Username != "" && b.access.Password != "" && r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.SetBasicAuth(b.access.Username, b.access.Password)
	}
	return b.own.RoundTrip(r)
}

// patience is how often a request is sent again, and when: 0.2 to 3.2 seconds, or
// what the server asks for.
var patience = &retry.GenericPolicy{
	Retryable: func(r *http.Response, err error) (bool, error) {
		if err != nil {
			return passes(err), nil
		}
		return r.StatusCode == http.StatusRequestTimeout || r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= 500 && r.StatusCode != http.StatusNotImplemented, nil
	},
	Backoff: retry.ExponentialBackoff(200*time.Millisecond, 2, 0.1),
	MinWait: 100 * time.Millisecond, MaxWait: 10 * time.Second, MaxRetry: 5,
}

// passes says whether an error may be gone the next time.
func passes(err error) bool {
	if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
		return !errors.Is(err, context.DeadlineExceeded)
	}
	return slices.ContainsFunc([]error{syscall.ECONNRESET, syscall.ECONNREFUSED, io.EOF, io.ErrUnexpectedEOF}, func(e error) bool { return errors.Is(err, e) })
}

// request is a GET.
type request struct {
	url    string
	access Access
	// home is the URL for which the credentials were given; "" is url itself.
	home   string
	header http.Header
}

// get sends a request and gives an answer of status 200, or of 304 where that was
// asked for. Errors: *StatusError, *OfflineError, *UnreachedError.
func (s *Sources) get(ctx context.Context, r request) (*http.Response, error) {
	named := r.url
	r.url = resolve.Mirrored(s.Settings.Mirrors, named)
	u, err := url.Parse(r.url)
	if err != nil {
		return nil, errors.New("what is to be fetched is no URL that can be read")
	}
	if s.Offline {
		return nil, &OfflineError{What: resolve.Public(r.url)}
	}
	home := r.home
	if home == "" || r.access.PassAll {
		home = r.url
	}
	if login, ok := s.login(r.url); ok && r.access.Username == "" && resolve.SameOrigin(home, named) {
		home, r.access.Username, r.access.Password = r.url, login.User, login.Password
	}
	if r.access.Password == "" && resolve.SameOrigin(home, r.url) {
		if r.access.Password, err = s.helperPassword(ctx, r.access.Username, r.home); err != nil {
			return nil, err
		}
	}
	if answer, done, err := s.byPlugin(ctx, u, r, home); done || err != nil {
		return answer, err
	}
	client, err := s.client(r.access, home)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("User-Agent", s.UserAgent)
	resp, err := client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		failed.URL = resolve.Public(failed.URL)
	}
	if err != nil {
		return nil, &UnreachedError{Err: err}
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotModified && conditional(r.header) {
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, &StatusError{URL: resolve.Public(resp.Request.URL.String()), Code: resp.StatusCode}
}

func conditional(h http.Header) bool {
	return h.Get("If-None-Match") != "" || h.Get("If-Modified-Since") != ""
}

// client keeps connections open from one request to the next.
func (s *Sources) client(a Access, home string) (*http.Client, error) {
	u, err := url.Parse(home)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL: %w", home, err)
	}
	key := clientKey{access: a, origin: resolve.Origin(u)}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if c, ok := s.clients[key]; ok {
		return c, nil
	}
	c, err := a.client(home)
	if err != nil {
		return nil, err
	}
	if s.clients == nil {
		s.clients = map[clientKey]*http.Client{}
	}
	s.clients[key] = c
	return c, nil
}

type clientKey struct {
	access Access
	origin string
}

// UnreachedError says that a server could not be asked.
type UnreachedError struct{ Err error }

func (e *UnreachedError) Error() string { return e.Err.Error() }

func (e *UnreachedError) Unwrap() error { return e.Err }

// StatusError says that a server has answered, but not with what was asked for.
type StatusError struct {
	URL  string
	Code int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("fetch %s: %d %s", e.URL, e.Code, strings.ToLower(http.StatusText(e.Code)))
}

// OfflineError says that something would have to be fetched, which --offline forbids.
type OfflineError struct{ What string }

func (e *OfflineError) Error() string {
	return e.What + " is not in the cache, and --offline fetches nothing"
}
