package source

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// guard keeps credentials with a registry: a request with credentials to another origin is
// refused, unless that may issue the registry's tokens.
//
// oras-go refuses a token server whose name resolves to a private address, unless that is also the
// registry's name, and has no switch for those that the user allows (validateRealm in its
// registry/remote/auth/client.go). The guard therefore gives it, in the place of such a token server, a path
// of the registry, and sends requests for that path to the token server.
type guard struct {
	registry *url.URL
	allowed  []string
	next     http.RoundTripper

	mutex sync.Mutex
	// issuers are the token servers that allowed origins have, by that path.
	issuers map[string]*url.URL
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	issuer := g.issuer(r.URL)
	if issuer != nil {
		r = r.Clone(r.Context())
		r.URL, r.Host = issuer, ""
	}
	carries := r.Header.Get("Authorization") != "" || r.Method == http.MethodPost
	if carries && !resolve.SameOrigin(g.registry.String(), r.URL.String()) && !g.allows(r.URL) {
		return nil, &RealmError{Registry: g.registry.Host, Origin: resolve.Origin(r.URL)}
	}
	resp, err := g.next.RoundTrip(r)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusUnauthorized:
		g.rename(resp.Header)
	case issuer != nil && resp.Header.Get("Location") != "":
		g.redirect(resp.Header, issuer)
	}
	return resp, nil
}

func (g *guard) allows(at *url.URL) bool {
	return slices.ContainsFunc(g.allowed, func(origin string) bool { return resolve.SameOrigin(origin, at.String()) })
}

// renames reports whether a token server gets a path of the registry. One without TLS does not, if the
// registry has it: oras-go refuses that.
func (g *guard) renames(at *url.URL) bool {
	return g.allows(at) && (at.Scheme == "https" || g.registry.Scheme == at.Scheme)
}

// redirect resolves where a token server redirects to: the client believes that the registry has answered.
func (g *guard) redirect(h http.Header, issuer *url.URL) {
	to, err := issuer.Parse(h.Get("Location"))
	if err != nil {
		return // the client says so
	}
	if g.renames(to) {
		to = g.name(to)
	}
	h.Set("Location", to.String())
}

// bearerRealm is the URL of a token server in a challenge (RFC 6750, section 3).
var bearerRealm = regexp.MustCompile(`(?i)\brealm="([^"\\]*)"`)

// rename replaces the token servers of allowed origins in a response's challenges by paths of the registry.
func (g *guard) rename(h http.Header) {
	challenges := h.Values("WWW-Authenticate")
	for i, challenge := range challenges {
		found := bearerRealm.FindStringSubmatchIndex(challenge)
		if found == nil {
			continue
		}
		issuer, err := url.Parse(challenge[found[2]:found[3]])
		if err == nil && g.renames(issuer) {
			challenges[i] = challenge[:found[2]] + g.name(issuer).String() + challenge[found[3]:]
		}
	}
}

// name returns the registry's URL under which an allowed token server is asked.
func (g *guard) name(issuer *url.URL) *url.URL {
	path := "/token-server/" + issuer.Scheme + "/" + issuer.Host + issuer.Path
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.issuers == nil {
		g.issuers = map[string]*url.URL{}
	}
	g.issuers[path] = issuer
	return g.registry.ResolveReference(&url.URL{Path: path, RawQuery: issuer.RawQuery})
}

// issuer returns the URL of the token server that is asked under a path of the registry, with the request's
// query; nil for any other.
func (g *guard) issuer(at *url.URL) *url.URL {
	g.mutex.Lock()
	issuer := g.issuers[at.Path]
	g.mutex.Unlock()
	if issuer == nil || !resolve.SameOrigin(g.registry.String(), at.String()) {
		return nil
	}
	out := *issuer
	out.RawQuery = at.RawQuery
	return &out
}

// RealmError says that a registry wants its credentials sent to an origin that is not allowed.
type RealmError struct{ Registry, Origin string }

func (e *RealmError) Error() string {
	return fmt.Sprintf("registry %s asks for its credentials to be sent to %s, which is not allowed: they were not sent", e.Registry, e.Origin)
}
