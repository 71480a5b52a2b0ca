// Package source brings charts from where they live: HTTP repositories, URLs,
// registries. It
// keeps repositories.yaml, the indexes and the cache of charts in Helm 4.3.1's files,
// so that either tool can go on where the other stopped.
//
// Which version and which URL a reference means is package resolve's to say. Bytes
// are used only when they have the digest that an index promised, whether they come
// from a server or the cache; credentials go to the origin that they were given for.
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

// Sources is one run's way to charts. It may be used by several goroutines.
type Sources struct {
	Paths     Paths
	UserAgent string
	// Access is what flags say of the server that a command names; zero for what
	// repositories.yaml says.
	Access Access
	// Offline fetches nothing: what is not in the cache is an *OfflineError.
	Offline bool
	// AllowMismatch uses bytes that have another digest than an index promised.
	AllowMismatch bool
	// Verification is what flags say of signatures.
	Verification Verification
	// Settings are our own, from sources.yaml.
	Settings resolve.Settings

	// Environment is that of getter plugins, as NAME=VALUE, and PluginErrors where their
	// standard errors go; nil is nothing and nowhere.
	Environment  func() []string
	PluginErrors io.Writer
	// TellUnknown is told, each time that a plugin fetches something, which names the settings
	// allow and no plugin has; nil tells nobody. It may be called by several goroutines.
	TellUnknown func(names []string)

	// netrc reads the logins of Paths.Netrc once.
	netrc  sync.Once
	logins map[string]resolve.Login

	// helped guards the passwords that the credential helper has told.
	helped    sync.Mutex
	passwords map[string]string

	mutex   sync.Mutex
	clients map[clientKey]*http.Client
	// underway are the archives that are being fetched.
	underway singleflight.Group
	// transports are those of the clients.
	transports map[trust]*http.Transport
	tokens     map[string]auth.Cache
	// plain are the registries on this machine, and whether they speak no TLS.
	plain map[string]bool
	// named is the host for which Access has credentials: the first that is named.
	named string
	// fresh are the indexes that this run has asked for, offered the archives that were
	// here before it, by their digest.
	fresh   map[string]bool
	offered map[string][]byte
}

// ReadSettings reads sources.yaml and hosts.yaml; one that is not there says nothing.
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
