package source

import (
	"context"
	"fmt"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// The passwords of repositories are in the credential helper that sources.yaml names, where it
// names one: the program docker-credential-NAME, which knows them by the repository's URL
// (https://github.com/docker/docker-credential-helpers). repositories.yaml then has the user
// name alone.

// helper is that program, or nil.
func (s *Sources) helper() credentials.Store {
	if s.Settings.CredsStore == "" {
		return nil
	}
	return credentials.NewNativeStore(s.Settings.CredsStore)
}

// helperPassword is what the helper knows of a user of a repository, or "". It is asked once
// in a run.
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

// helpKeep gives the password of an entry to the helper, and the entry without it.
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

// helpForget has the helper forget the password of an entry that is none any more.
func (s *Sources) helpForget(ctx context.Context, e resolve.Repository) error {
	if e.Password != "" {
		return nil // it stood in the file
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
