package source

import (
	"context"
	"fmt"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// If sources.yaml names a credential helper, the program docker-credential-NAME stores the
// passwords of repositories by the repository's URL
// (https://github.com/docker/docker-credential-helpers), and repositories.yaml has only the user
// name.

// helper returns that credential helper, or nil.
func (s *Sources) helper() credentials.Store {
	if s.Settings.CredsStore == "" {
		return nil
	}
	return credentials.NewNativeStore(s.Settings.CredsStore)
}

// helperPassword returns the password that the helper has for a user of a repository, or "". The
// helper is asked once per run.
func (s *Sources) helperPassword(ctx context.Context, user, url string) (string, error) {
	helper := s.helper()
	if helper == nil || user == "" {
		return "", nil
	}
	s.helped.Lock()
	defer s.helped.Unlock()
	key := user + " " + url
	if known, ok := s.passwords[key]; ok {
		return known, nil
	}
	c, err := helper.Get(ctx, url)
	if err != nil {
		return "", fmt.Errorf("the password for %s: %w", resolve.Public(url), err)
	}
	if c.Username != user {
		c.Password = "" // it is somebody else's
	}
	if s.passwords == nil {
		s.passwords = map[string]string{}
	}
	s.passwords[key] = c.Password
	return c.Password, nil
}

// helpKeep stores the password of an entry in the helper, and returns the entry without it.
func (s *Sources) helpKeep(ctx context.Context, e resolve.Repository) (resolve.Repository, error) {
	helper := s.helper()
	if helper == nil || e.Password == "" {
		return e, nil
	}
	if err := helper.Put(ctx, e.URL, auth.Credential{Username: e.Username, Password: e.Password}); err != nil {
		return e, fmt.Errorf("keep the password for %s: %w", resolve.Public(e.URL), err)
	}
	e.Password = ""
	return e, nil
}

// helpForget removes the password of a removed entry from the helper.
func (s *Sources) helpForget(ctx context.Context, e resolve.Repository) error {
	if e.Password != "" {
		return nil // it was in repositories.yaml
	}
	known, err := s.helperPassword(ctx, e.Username, e.URL)
	if err != nil || known == "" {
		return err
	}
	if err := s.helper().Delete(ctx, e.URL); err != nil {
		return fmt.Errorf("forget the password for %s: %w", resolve.Public(e.URL), err)
	}
	return nil
}
