package source

import (
	"bytes"
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
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// credential returns the credentials for an image from the first file that has any: those for
// the longest path above the image, or otherwise for its host.
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

// login returns the login for the server of a URL in the netrc file. A file that can't be read
// is ignored.
func (s *Sources) login(url string) (resolve.Login, bool) {
	s.netrc.Do(func() {
		if data, err := inputfile.Read(s.Paths.Netrc, maxConfigBytes); err == nil {
			s.logins = resolve.ParseNetrc(data)
		}
	})
	found, ok := s.logins[resolve.NetrcMachine(url)]
	return found, ok
}

// given returns the credentials of a user with a password or, if user is "", with a token.
func given(user, password string) auth.Credential {
	if user == "" {
		return auth.Credential{RefreshToken: password}
	}
	return auth.Credential{Username: user, Password: password}
}

// credentialFiles returns Helm's, Docker's and Podman's files, in order of precedence.
func (p Paths) credentialFiles() []string {
	return append([]string{p.RegistryConfig}, p.OtherCredentials...)
}

// credentialFile is the part of Docker's config.json that says for which names it has
// credentials.
type credentialFile struct {
	Auths       map[string]json.RawMessage `json:"auths"`
	CredHelpers map[string]string          `json:"credHelpers"`
	CredsStore  string                     `json:"credsStore"`
}

// readCredentialFile reads a credential file; there is false if it does not exist or we may not
// read it.
func readCredentialFile(file string) (f credentialFile, there bool, err error) {
	data, err := inputfile.Read(file, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return f, false, nil
	}
	if err != nil {
		return f, false, fmt.Errorf("read the credentials: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return f, false, nil // as touch and some CI images leave it
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, false, fmt.Errorf("read the credentials in %s: %w", file, err)
	}
	return f, true, nil
}

// scopes returns the names under which the file may have credentials for an image, longest
// first: containers-auth.json(5) has namespaces below hosts. A name with a path covers only what
// is below that path; a URL, which Docker used to write, covers its whole host.
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

// Login checks a user's password, or a token if user is "", with a registry and stores it in
// Helm's registry config, or in the credential helper named there. Connection settings in
// s.Access are stored in hosts.yaml and returned. Nothing is stored if the registry refuses the
// credentials. Errors: *RefusedError, *UnreachedError.
func (s *Sources) Login(ctx context.Context, host, user, password string) (resolve.Server, error) {
	if s.Paths.RegistryConfig == "" {
		return resolve.Server{}, fmt.Errorf("keep the login: %w", errNoFolder)
	}
	image := resolve.Image{Host: host}
	client, plain, err := s.registryClient(ctx, image)
	if err != nil {
		return resolve.Server{}, err
	}
	if err := os.MkdirAll(filepath.Dir(s.Paths.RegistryConfig), 0o755); err != nil {
		return resolve.Server{}, err
	}
	registry, err := remote.NewRegistry(host)
	if err != nil {
		return resolve.Server{}, fmt.Errorf("%q is not the name of a registry", host)
	}
	client.Cache = nil
	registry.Client, registry.PlainHTTP = client, plain
	if err := credentials.Login(ctx, storedLogins{s.Paths}, registry, given(user, password)); err != nil {
		return resolve.Server{}, explained("log in to "+host, err)
	}
	if s.Access.Server == (resolve.Server{}) {
		return resolve.Server{}, nil
	}
	return s.keepServer(ctx, host, s.Access.Server)
}

// Logout removes the credentials of a registry and its settings in hosts.yaml. It is not an
// error if there are none.
func (s *Sources) Logout(ctx context.Context, host string) error {
	if err := s.forgetServer(ctx, host); err != nil {
		return err
	}
	if _, err := os.Stat(s.Paths.RegistryConfig); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := credentials.Logout(ctx, storedLogins{s.Paths}, host); err != nil {
		return fmt.Errorf("log out of %s: %w", host, err)
	}
	return nil
}

// LoggedIn returns the registries, HOST or HOST:PORT, for which Logout would remove
// credentials: those in Helm's file, and those listed by the credential helper named there,
// whose errors are ignored. Errors: the file can't be read.
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

// helperGrace is how long what a credential helper has started may keep its output open after the helper has ended
// or was killed.
const helperGrace = time.Second

// helperServers returns the servers that a credential helper knows, from its list command.
func helperServers(ctx context.Context, helper string) []string {
	if helper == "" {
		return nil
	}
	list := exec.CommandContext(ctx, "docker-credential-"+helper, "list")
	list.WaitDelay = helperGrace
	out, err := list.Output()
	var users map[string]string
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) || json.Unmarshal(out, &users) != nil {
		return nil
	}
	return slices.Collect(maps.Keys(users))
}
