package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// repository returns a client for an image's repository. Connections and tokens are reused.
func (s *Sources) repository(ctx context.Context, i resolve.Image) (*remote.Repository, error) {
	if s.Offline {
		return nil, &OfflineError{What: i.String()}
	}
	s.bind(i.String()) // credentials from flags are the registry's, not its mirror's
	if at := resolve.Mirrored(s.Settings.Mirrors, i.String()); at != i.String() {
		mirrored, _, err := resolve.ParseImage(at)
		if err != nil {
			return nil, fmt.Errorf("mirror of %s: %w", i, err)
		}
		i = mirrored
	}
	client, plain, err := s.registryClient(ctx, i)
	if err != nil {
		return nil, err
	}
	return &remote.Repository{
		Client: client, PlainHTTP: plain,
		Reference: registry.Reference{Registry: i.Host, Repository: i.Path},
	}, nil
}

// registryClient returns a client for a registry, and whether to use plain HTTP. Credentials from
// flags, or from the stores that Helm, Docker and Podman share, go only to the registry and to its
// allowed token servers.
func (s *Sources) registryClient(ctx context.Context, i resolve.Image) (*auth.Client, bool, error) {
	host := registry.Reference{Registry: i.Host}.Host()
	access := s.accessTo(i.String())
	plain := s.plainHTTP(i.Host, access)
	if !plain && isLoopback(i.Host) {
		var err error
		if plain, err = s.speaksPlain(ctx, host); err != nil {
			return nil, false, &UnreachedError{Err: fmt.Errorf("%s: %w", strings.TrimSuffix(i.String(), "/"), err)}
		}
	}
	home := &url.URL{Scheme: "https", Host: host}
	if plain {
		home.Scheme = "http"
	}
	encrypted := access.Server
	encrypted.PlainHTTP = false
	base, err := s.client(Access{Server: encrypted, Elsewhere: access.Elsewhere}, home.String()) // auth.Client adds the credentials
	if err != nil {
		return nil, false, err
	}
	guarded := *base
	guarded.Transport = &guard{registry: home, allowed: append(realms(host), s.Settings.Realms[i.Host]...), next: base.Transport}
	key := i.Host + "/" + i.Path
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.tokens == nil {
		s.tokens = map[string]auth.Cache{}
	}
	if s.tokens[key] == nil {
		s.tokens[key] = auth.NewCache()
	}
	return &auth.Client{
		Client: &guarded, Header: http.Header{"User-Agent": {s.UserAgent}, "Accept-Encoding": {unencoded}}, Cache: s.tokens[key],
		Credential: func(ctx context.Context, hostport string) (auth.Credential, error) {
			switch {
			case hostport != host, access.Password == "" && s.Access.Password != "":
				return auth.EmptyCredential, nil
			case access.Password != "":
				return given(access.Username, access.Password), nil
			}
			return s.credential(ctx, i)
		},
	}, plain, nil
}

// plainHTTP reports whether to connect to a registry without TLS: as the access says or, if that is zero
// or for another server, as the settings do.
func (s *Sources) plainHTTP(host string, a Access) bool {
	_, remembered := s.Settings.Hosts[resolve.HostName(host)]
	switch {
	case a.Server == (resolve.Server{}), a.Elsewhere && remembered:
		return s.Settings.Plain(host)
	case a.Elsewhere:
		return a.PlainHTTP || s.Settings.Plain(host)
	}
	return a.PlainHTTP
}

func isLoopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// speaksPlain reports whether the server at a loopback address does not speak TLS. It is as
// patient as with any other request.
func (s *Sources) speaksPlain(ctx context.Context, host string) (bool, error) {
	s.mutex.Lock()
	known, asked := s.plain[host]
	s.mutex.Unlock()
	if asked {
		return known, nil
	}
	address := host
	if _, _, err := net.SplitHostPort(host); err != nil {
		address = net.JoinHostPort(strings.Trim(host, "[]"), "443")
	}
	// Only the protocol is of interest; nothing is sent.
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTimeout}, Config: &tls.Config{InsecureSkipVerify: true}}
	plain := false
	for attempt := 0; ; attempt++ {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = c.Close()
			break
		}
		if _, plain = errors.AsType[tls.RecordHeaderError](err); plain {
			break
		}
		pause, _ := patience.Retry(attempt, nil, err)
		if pause < 0 || retry.Pause(ctx, pause) != nil {
			return false, err
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.plain == nil {
		s.plain = map[string]bool{}
	}
	s.plain[host] = plain
	return plain, nil
}

// realms returns the origins, besides the registry itself, that issue tokens for well-known
// registries (https://distribution.github.io/distribution/spec/auth/jwt,
// https://docs.gitlab.com/ee/user/packages/container_registry/authenticate_with_container_registry.html).
func realms(host string) []string {
	switch host {
	case "registry-1.docker.io":
		return []string{"https://auth.docker.io"}
	case "registry.gitlab.com":
		return []string{"https://gitlab.com"}
	}
	return nil
}

// explained converts an error of a registry to *NotThereError, *RefusedError, *RealmError,
// *UnreachedError, or one that begins with what. A *DigestError stays as it is.
func explained(what string, err error) error {
	var refused *errcode.ErrorResponse
	var other *DigestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &other):
		return other
	case errors.Is(err, errdef.ErrNotFound):
		return &NotThereError{What: what}
	case errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound:
		return &NotThereError{What: what}
	case errors.As(err, &refused):
		why := strings.ToLower(http.StatusText(refused.StatusCode))
		if len(refused.Errors) > 0 {
			why = refused.Errors.Error()
		}
		return &RefusedError{text: what + ": " + why, Code: refused.StatusCode}
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return &RefusedError{text: what + ": the registry wants a user name and a password", Code: http.StatusUnauthorized}
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		if realm, is := errors.AsType[*RealmError](err); is {
			return realm
		}
		return &UnreachedError{Err: fmt.Errorf("%s: %w", what, unreached(failed).Err)}
	}
	return fmt.Errorf("%s: %w", what, withoutSecrets(err))
}

// NotThereError says that a registry does not have something.
type NotThereError struct{ What string }

func (e *NotThereError) Error() string { return "there is no " + e.What }

// RefusedError says that a registry refuses a request.
type RefusedError struct {
	text string
	// Code is the HTTP status code.
	Code int
}

func (e *RefusedError) Error() string { return e.text }
