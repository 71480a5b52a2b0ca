package resolve

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Settings are what sources.yaml says: what Helm has no file for.
type Settings struct {
	// Mirrors are places from which charts and indexes are fetched instead.
	Mirrors []Mirror `json:"mirrors,omitempty"`
	// Registries are those, HOST or HOST:PORT, that may be asked because a release's record
	// names them; others are known by their credentials or by another word here.
	Registries []string `json:"registries,omitempty"`
	// PlainHTTP are registries, HOST or HOST:PORT, that are spoken to without TLS.
	PlainHTTP []string `json:"plainHTTP,omitempty"`
	// Realms are, by registry, the origins that make its tokens and so see its
	// credentials; the registry itself does anyway.
	Realms map[string][]string `json:"realms,omitempty"`
	// Plugins are the names of the getter plugins that may be run.
	Plugins []string `json:"plugins,omitempty"`
	// CredsStore is the credential helper that keeps the passwords of repositories, by what
	// its name has behind docker-credential-; "" keeps them in repositories.yaml, as Helm does.
	CredsStore string `json:"credsStore,omitempty"`
	// Verify are the charts that have to be signed.
	Verify []Rule `json:"verify,omitempty"`
	// Hosts are those of hosts.yaml, which is a file of its own.
	Hosts Hosts `json:"-"`
}

// Plain says whether a registry is spoken to without TLS.
func (s Settings) Plain(host string) bool {
	return slices.Contains(s.PlainHTTP, host) || s.Hosts[HostName(host)].PlainHTTP
}

// ParseSettings reads sources.yaml. A key that is not known is an error: a typing
// error must not make a mirror or a policy mean nothing.
func ParseSettings(data []byte) (Settings, error) {
	var s Settings
	if err := yaml.UnmarshalStrict(data, &s); err != nil {
		return s, err
	}
	for _, m := range s.Mirrors {
		from, errFrom := url.Parse(m.Prefix)
		to, errTo := url.Parse(m.To)
		if errFrom != nil || errTo != nil || from.Scheme == "" || to.Scheme == "" {
			return s, fmt.Errorf("mirrors: prefix %q and to %q have to be URLs, or begin with %s", m.Prefix, m.To, Scheme)
		}
		if IsRegistry(m.Prefix) != IsRegistry(m.To) {
			return s, fmt.Errorf("mirrors: %s and %s are not of one kind", m.Prefix, m.To)
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
		return s, fmt.Errorf("credsStore: %q is no name of a credential helper: pass is that of docker-credential-pass", s.CredsStore)
	}
	for _, r := range s.Verify {
		if err := r.validate(); err != nil {
			return s, fmt.Errorf("verify: %w", err)
		}
	}
	return s, nil
}

// Names says whether the settings have a word about a registry.
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
