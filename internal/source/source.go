// Package source fetches charts from HTTP repositories, URLs and registries. It keeps
// repositories.yaml, the indexes and the cache of charts in Helm 4.3.1's files, so either
// tool can continue where the other stopped.
//
// Package resolve decides which version and which URL a reference means. Bytes are used
// only if they have the digest that an index promised, whether they come from a server or
// the cache; credentials go only to the origin that they were given for.
package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"

	"golang.org/x/sync/singleflight"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Sources provides access to charts during one run, in which an index is updated once. It is safe
// for concurrent use.
type Sources struct {
	Paths     Paths
	UserAgent string
	// Access is the access from flags to the server that a command names; zero to use
	// repositories.yaml.
	Access Access
	// Offline fetches nothing: what is not in the cache is an *OfflineError.
	Offline bool
	// AllowMismatch accepts bytes whose digest is not the one that an index promised.
	AllowMismatch bool
	// Verification is what flags demand of signatures.
	Verification Verification
	// Settings is our own configuration, from sources.yaml and hosts.yaml.
	Settings resolve.Settings

	// Environment returns the environment of getter plugins, as NAME=VALUE; nil means none.
	// PluginErrors receives their standard error, without passwords; nil discards it.
	Environment  func() []string
	PluginErrors io.Writer
	// TellUnknown, unless nil, is called each time a plugin fetches something while the settings
	// allow names that no plugin has. It may be called concurrently.
	TellUnknown func(names []string)
	// Waiting, unless nil, is called with what is being waited for when a server does not answer, see
	// retry.Silence. It may be called concurrently.
	Waiting func(text string)

	// netrc reads the logins of Paths.Netrc once.
	netrc  sync.Once
	logins map[string]resolve.Login

	// helped guards passwords, which came from the credential helper.
	helped    sync.Mutex
	passwords map[string]string

	mutex   sync.Mutex
	clients map[clientKey]*http.Client
	// underway holds the archives that are being fetched.
	underway singleflight.Group
	// transports holds the transports of the clients.
	transports map[trust]*http.Transport
	tokens     map[string]auth.Cache
	// plain holds the registries at loopback addresses, true for those without TLS.
	plain map[string]bool
	// named is the origin that the credentials in Access are for: the first that is named.
	named string
	// fresh holds the indexes that this run has updated, refreshing those that it is updating.
	fresh      map[string]bool
	refreshing singleflight.Group
	// offered holds the archives passed to Offer, by digest.
	offered map[string][]byte
}

// ReadSettings reads sources.yaml and hosts.yaml; a missing file has no settings.
func (p Paths) ReadSettings() (resolve.Settings, error) {
	data, err := inputfile.Read(p.Settings, maxConfigBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return resolve.Settings{}, fmt.Errorf("read the settings of sources: %w", err)
	}
	settings, err := resolve.ParseSettings(data)
	if err != nil {
		return settings, fmt.Errorf("read %s: %w", p.Settings, err)
	}
	settings.Hosts, err = p.readHosts()
	return settings, err
}
