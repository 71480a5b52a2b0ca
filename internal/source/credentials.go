package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// credential is what the first of the files knows for an image's registry, for the
// longest path above the image or else the host.
func (s *Sources) credential(ctx context.Context, i resolve.Image) (auth.Credential, error) {
	for _, file := range s.Paths.credentialFiles() {
		known, there, err := readCredentialFile(file)
		if err != nil {
			return auth.EmptyCredential, err
		}
		if !there {
			continue
		}
		store, err := credentials.NewStore(file, credentials.StoreOptions{})
		if err != nil {
			return auth.EmptyCredential, fmt.Errorf("read the credentials in %s: %w", file, err)
		}
		for _, scope := range known.scopes(i) {
			c, err := store.Get(ctx, scope)
			if err != nil {
				return auth.EmptyCredential, fmt.Errorf("credentials of %s: %w", i.Host, err)
			}
			if c != auth.EmptyCredential {
				return c, nil
			}
		}
	}
	return auth.EmptyCredential, nil
}

// login is what the netrc file knows of the server of a URL. A file that can't be read
// knows nothing.
func (s *Sources) login(url string) (resolve.Login, bool) {
	s.netrc.Do(func() {
		if data, err := inputfile.Read(s.Paths.Netrc, maxConfigBytes); err == nil {
			s.logins = resolve.ParseNetrc(data)
		}
	})
	found, ok := s.logins[resolve.NetrcMachine(url)]
	return found, ok
}

// given is a user's password, or a token where there is no user.
func given(user, password string) auth.Credential {
	if user == "" {
		return auth.Credential{RefreshToken: password}
	}
	return auth.Credential{Username: user, Password: password}
}

// credentialFiles are Helm's, Docker's and Podman's, in the order in which they count.
func (p Paths) credentialFiles() []string {
	return append([]string{p.RegistryConfig}, p.OtherCredentials...)
}

// credentialFile is Docker's config.json, as far as it says under which names it has
// credentials.
type credentialFile struct {
	Auths       map[string]json.RawMessage `json:"auths"`
	CredHelpers map[string]string          `json:"credHelpers"`
	CredsStore  string                     `json:"credsStore"`
}

// readCredentialFile reads one; there is false where it is not there, or not for us.
func readCredentialFile(file string) (f credentialFile, there bool, err error) {
	data, err := inputfile.Read(file, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return f, false, nil
	}
	if err != nil {
		return f, false, fmt.Errorf("read the credentials: %w", err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, false, fmt.Errorf("read the credentials in %s: %w", file, err)
	}
	return f, true, nil
}

// scopes are the names under which the file may know credentials for an image, the longest
// first: containers-auth.json(5) has namespaces below hosts. A name with a path is for what is
// below that, and for nothing else on its host; a URL is for its host, as Docker once wrote
// them.
func (f credentialFile) scopes(i resolve.Image) []string {
	var out []string
	for path := i.Path; path != ""; path = path[:max(0, strings.LastIndexByte(path, '/'))] {
		if _, ok := f.Auths[i.Host+"/"+path]; ok {
			out = append(out, i.Host+"/"+path)
		}
	}
	host := credentials.ServerAddressFromRegistry(i.Host)
	if _, ok := f.Auths[host]; ok || f.CredHelpers[host] != "" || f.CredsStore != "" {
		out = append(out, host)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Auths)) {
		u, err := url.Parse(name)
		if name != host && (name == i.Host || err == nil && u.Host == i.Host && (u.Scheme == "https" || u.Scheme == "http")) {
			out = append(out, name)
		}
	}
	return out
}

// Login asks a registry whether it takes a user's password, or a token where there is
// no user, and keeps it in Helm's file, or in the helper that this names, and in hosts.yaml
// how the registry is spoken to, where Access says it, which it gives. Nothing is kept
// when the registry does not take them.
func (s *Sources) Login(ctx context.Context, host, user, password string) (resolve.Server, error) {
	image := resolve.Image{Host: host}
	client, plain, err := s.registryClient(ctx, image)
	if err != nil {
		return resolve.Server{}, err
	}
	if err := os.MkdirAll(filepath.Dir(s.Paths.RegistryConfig), 0o755); err != nil {
		return resolve.Server{}, err
	}
	store, err := s.store()
	if err != nil {
		return resolve.Server{}, err
	}
	registry, err := remote.NewRegistry(host)
	if err != nil {
		return resolve.Server{}, fmt.Errorf("%q is not the name of a registry", host)
	}
	client.Cache = nil
	registry.Client, registry.PlainHTTP = client, plain
	if err := credentials.Login(ctx, store, registry, given(user, password)); err != nil {
		return resolve.Server{}, explained("log in to "+host, err)
	}
	if s.Access.Server == (resolve.Server{}) {
		return resolve.Server{}, nil
	}
	return s.keepServer(ctx, host, s.Access.Server)
}

// Logout forgets the credentials of a registry, and how it is spoken to; not to know any of
// it is no error.
func (s *Sources) Logout(ctx context.Context, host string) error {
	if err := s.forgetServer(ctx, host); err != nil {
		return err
	}
	if _, err := os.Stat(s.Paths.RegistryConfig); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	store, err := s.store()
	if err != nil {
		return err
	}
	if err := credentials.Logout(ctx, store, host); err != nil {
		return fmt.Errorf("log out of %s: %w", host, err)
	}
	return nil
}

// LoggedIn are the registries, HOST or HOST:PORT, that Logout would forget: those in Helm's
// file, and those that the credential helper in it lists. Errors: the file can't be read; a
// helper that gives no list has none.
func (s *Sources) LoggedIn(ctx context.Context) ([]string, error) {
	known, there, err := readCredentialFile(s.Paths.RegistryConfig)
	if err != nil || !there {
		return nil, err
	}
	names := slices.Concat(slices.Collect(maps.Keys(known.Auths)), slices.Collect(maps.Keys(known.CredHelpers)), helperServers(ctx, known.CredsStore))
	if i := slices.Index(names, credentials.ServerAddressFromRegistry("docker.io")); i >= 0 {
		names[i] = "docker.io"
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// helperServers are those that a credential helper knows, by its word list.
func helperServers(ctx context.Context, helper string) []string {
	if helper == "" {
		return nil
	}
	out, err := exec.CommandContext(ctx, "docker-credential-"+helper, "list").Output()
	var users map[string]string
	if err != nil || json.Unmarshal(out, &users) != nil {
		return nil
	}
	return slices.Collect(maps.Keys(users))
}

// store is Helm's file of credentials.
func (s *Sources) store() (credentials.Store, error) {
	store, err := credentials.NewStore(s.Paths.RegistryConfig, credentials.StoreOptions{AllowPlaintextPut: true, DetectDefaultNativeStore: true})
	if err != nil {
		return nil, fmt.Errorf("read the credentials in %s: %w", s.Paths.RegistryConfig, err)
	}
	return store, nil
}
