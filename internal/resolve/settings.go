package resolve

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Settings is the content of sources.yaml: settings for which Helm has no file.
type Settings struct {
	// Mirrors lists where charts and indexes are fetched from instead of their original URLs.
	Mirrors []Mirror `json:"mirrors,omitempty"`
	// Registries lists registries, HOST or HOST:PORT, that may be contacted when a release's record
	// names them. Those with credentials or another setting here may be contacted anyway.
	Registries []string `json:"registries,omitempty"`
	// PlainHTTP lists registries, HOST or HOST:PORT, to connect to without TLS.
	PlainHTTP []string `json:"plainHTTP,omitempty"`
	// Realms lists, by registry, the origins besides the registry itself that issue its tokens and
	// therefore see its credentials.
	Realms map[string][]string `json:"realms,omitempty"`
	// Plugins lists the names of the getter plugins that may be run.
	Plugins []string `json:"plugins,omitempty"`
	// CredsStore is the credential helper for repository passwords: the part of its name after
	// docker-credential-; "" keeps them in repositories.yaml, as Helm does.
	CredsStore string `json:"credsStore,omitempty"`
	// Verify says which charts have to be signed.
	Verify []Rule `json:"verify,omitempty"`
	// Hosts is the content of hosts.yaml, a separate file.
	Hosts Hosts `json:"-"`
}

// Plain reports whether to connect to a registry without TLS.
func (s Settings) Plain(host string) bool {
	return slices.Contains(s.PlainHTTP, host) || s.Hosts[HostName(host)].PlainHTTP
}

// ParseSettings parses sources.yaml. An unknown key is an error: a typo must not disable a mirror
// or a policy.
func ParseSettings(data []byte) (Settings, error) {
	var s Settings
	if err := yaml.UnmarshalStrict(data, &s); err != nil {
		return s, err
	}
	for _, m := range s.Mirrors {
		from, errFrom := url.Parse(m.Prefix)
		to, errTo := url.Parse(m.To)
		if errFrom != nil || errTo != nil || from.Scheme == "" || to.Scheme == "" {
			return s, fmt.Errorf("mirrors: prefix %q and to %q must be URLs or begin with %s", m.Prefix, m.To, Scheme)
		}
		if IsRegistry(m.Prefix) != IsRegistry(m.To) {
			return s, fmt.Errorf("mirrors: %s and %s are not of the same kind", m.Prefix, m.To)
		}
	}
	for host, origins := range s.Realms {
		for _, origin := range origins {
			if u, err := url.Parse(origin); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
				return s, fmt.Errorf("realms: %s: %q is not the URL of a server", host, origin)
			}
		}
	}
	if strings.ContainsAny(s.CredsStore, `/\`) {
		return s, fmt.Errorf("credsStore: %q is not the name of a credential helper: for docker-credential-pass it is pass", s.CredsStore)
	}
	for _, r := range s.Verify {
		if err := r.validate(); err != nil {
			return s, fmt.Errorf("verify: %w", err)
		}
	}
	return s, nil
}

// Names reports whether any setting names the registry.
func (s Settings) Names(host string) bool {
	of := func(prefix string) bool {
		i, _, err := ParseImage(strings.TrimRight(prefix, "/") + "/x")
		return err == nil && IsRegistry(prefix) && i.Host == host
	}
	_, kept := s.Hosts[HostName(host)]
	return kept || slices.Contains(s.Registries, host) || slices.Contains(s.PlainHTTP, host) || s.Realms[host] != nil ||
		slices.ContainsFunc(s.Mirrors, func(m Mirror) bool { return of(m.Prefix) }) ||
		slices.ContainsFunc(s.Verify, func(r Rule) bool { return of(r.Prefix) })
}
