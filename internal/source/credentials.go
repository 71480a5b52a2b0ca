package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
		scopes, err := scopesIn(file, i)
		if err != nil {
			return auth.EmptyCredential, err
		}
		if scopes == nil {
			continue
		}
		store, err := credentials.NewStore(file, credentials.StoreOptions{})
		if err != nil {
			return auth.EmptyCredential, fmt.Errorf("read the credentials in %s: %w", file, err)
		}
		for _, scope := range scopes {
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

// scopesIn are the names under which a file may know credentials for an image, the
// longest first: containers-auth.json(5) has namespaces below hosts. They are nil when
// there is no such file.
func scopesIn(file string, i resolve.Image) ([]string, error) {
	data, err := inputfile.Read(file, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the credentials: %w", err)
	}
	var known struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if err := json.Unmarshal(data, &known); err != nil {
		return nil, fmt.Errorf("read the credentials in %s: %w", file, err)
	}
	var scopes []string
	for path := i.Path; path != ""; path = path[:max(0, strings.LastIndexByte(path, '/'))] {
		if _, ok := known.Auths[i.Host+"/"+path]; ok {
			scopes = append(scopes, i.Host+"/"+path)
		}
	}
	return append(scopes, credentials.ServerAddressFromRegistry(i.Host)), nil
}

// Login asks a registry whether it takes a user's password, or a token where there is
// no user, and keeps it in Helm's file, or in the helper that this names. Nothing is
// kept when it does not.
func (s *Sources) Login(ctx context.Context, host, user, password string) error {
	image := resolve.Image{Host: host}
	client, plain, err := s.registryClient(ctx, image)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Paths.RegistryConfig), 0o755); err != nil {
		return err
	}
	store, err := s.store()
	if err != nil {
		return err
	}
	registry, err := remote.NewRegistry(host)
	if err != nil {
		return fmt.Errorf("%q is not the name of a registry", host)
	}
	client.Cache = nil
	registry.Client, registry.PlainHTTP = client, plain
	if err := credentials.Login(ctx, store, registry, given(user, password)); err != nil {
		return explained("log in to "+host, err)
	}
	return nil
}

// Logout forgets the credentials of a registry; not to have any is no error.
func (s *Sources) Logout(ctx context.Context, host string) error {
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
	data, err := inputfile.Read(s.Paths.RegistryConfig, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the credentials: %w", err)
	}
	var known struct {
		Auths       map[string]json.RawMessage `json:"auths"`
		CredHelpers map[string]string          `json:"credHelpers"`
		CredsStore  string                     `json:"credsStore"`
	}
	if err := json.Unmarshal(data, &known); err != nil {
		return nil, fmt.Errorf("read the credentials in %s: %w", s.Paths.RegistryConfig, err)
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
