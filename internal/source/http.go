package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	orasretry "oras.land/oras-go/v2/registry/remote/retry"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Access is how to access a server, from a repository's entry or the flags of a command.
type Access struct {
	Username, Password string
	// PassAll also sends the credentials to other origins that an index names, but never
	// to the target of a redirect.
	PassAll bool
	// Server is zero to use the remembered settings of the server.
	resolve.Server
	// Elsewhere says that Server was not given for the server that is contacted: its remembered
	// settings come first, and otherwise the CA file counts in addition to the system's authorities.
	Elsewhere bool
}

// accessOf returns the access in a repository's entry.
func accessOf(r resolve.Repository) Access {
	return Access{Username: r.Username, Password: r.Password, PassAll: r.PassCredentialsAll, Server: r.Server()}
}

// or returns a, with credentials and server settings from other where a has none.
func (a Access) or(other Access) Access {
	if a.Username == "" && a.Password == "" {
		a.Username, a.Password, a.PassAll = other.Username, other.Password, a.PassAll || other.PassAll
	}
	if a.Server == (resolve.Server{}) || a.Elsewhere && other.Server != (resolve.Server{}) {
		a.Server, a.Elsewhere = other.Server, other.Elsewhere
	}
	return a
}

// elsewhere returns a for another server than the one that it is for, to which no client certificate
// goes.
func (a Access) elsewhere() Access {
	a.CertFile, a.KeyFile = "", ""
	a.Elsewhere = a.Server != (resolve.Server{})
	return a
}

// maxRetryAfter is the longest Retry-After that is honoured.
const maxRetryAfter = time.Minute

// patience is the retry policy: pauses of 0.2 to 3.2 seconds, or what the server asks for.
var patience = &orasretry.GenericPolicy{
	Retryable: func(r *http.Response, err error) (bool, error) {
		if err != nil {
			return passes(err), nil
		}
		return r.StatusCode == http.StatusRequestTimeout || r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= 500 && r.StatusCode != http.StatusNotImplemented, nil
	},
	Backoff: func(attempt int, r *http.Response) time.Duration {
		if r == nil {
			return pauses(attempt, nil)
		}
		return max(pauses(attempt, nil), retry.After(r.Header))
	},
	MinWait: 100 * time.Millisecond, MaxWait: maxRetryAfter, MaxRetry: 5,
}

var pauses = orasretry.ExponentialBackoff(200*time.Millisecond, 2, 0.1)

// passes reports whether an error is transient.
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

// get sends a request and returns a response with status 200, or 304 if the request was
// conditional. Errors: *StatusError, *OfflineError, *UnreachedError, *resolve.SchemeError.
func (s *Sources) get(ctx context.Context, r request) (*http.Response, error) {
	named := r.url
	r.url = resolve.Mirrored(s.Settings.Mirrors, named)
	u, err := url.Parse(r.url)
	if err != nil {
		return nil, errors.New("the URL to be fetched can't be read")
	}
	if s.Offline {
		return nil, &OfflineError{What: resolve.Public(r.url)}
	}
	home := cmp.Or(r.home, r.url)
	if r.access.PassAll && !resolve.SameOrigin(home, r.url) {
		home, r.access = r.url, r.access.elsewhere()
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
	if err != nil {
		return nil, unreached(err)
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

// UnreachedError says that a server could not be reached.
type UnreachedError struct{ Err error }

// unreached returns the error of an http.Client. Its URL, which may be a signed one that a redirect
// has led to, is shown without what is secret.
func unreached(err error) *UnreachedError {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		failed.URL = resolve.Public(failed.URL)
	}
	return &UnreachedError{Err: err}
}

func (e *UnreachedError) Error() string { return e.Err.Error() }

func (e *UnreachedError) Unwrap() error { return e.Err }

// StatusError says that a server answered with an error status.
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
