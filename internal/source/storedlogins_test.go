package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Programs that log in to different registries at the same time, or log out, undo nothing of each other.
func TestLoginsAtTheSameTime(t *testing.T) {
	paths := ours(t).Paths
	var hosts []string
	atOnce := func(do func(s *Sources, host string) error) {
		var all sync.WaitGroup
		for _, host := range hosts {
			all.Go(func() {
				if err := do(&Sources{Paths: paths}, host); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	login := func(s *Sources, host string) error {
		_, err := s.Login(t.Context(), host, "u", "p")
		return err
	}
	for range 6 {
		server := sourcetest.Serve(t, sourcetest.Options{})
		server.Put("/v2/", []byte("{}"))
		hosts = append(hosts, strings.TrimPrefix(server.URL, "http://"))
	}
	slices.Sort(hosts)
	atOnce(login)
	if kept, err := (&Sources{Paths: paths}).LoggedIn(t.Context()); err != nil || !slices.Equal(kept, hosts) {
		t.Errorf("%v, %v, want %v", kept, err, hosts)
	}
	atOnce(func(s *Sources, host string) error { return s.Logout(t.Context(), host) })
	if kept, err := (&Sources{Paths: paths}).LoggedIn(t.Context()); err != nil || len(kept) > 0 {
		t.Errorf("after logging out: %v, %v", kept, err)
	}
}

// An empty file for credentials, as touch leaves it, has none.
func TestAnEmptyCredentialFile(t *testing.T) {
	_, image, _ := fakeChart(t)
	s := ours(t)
	for _, file := range s.Paths.credentialFiles() {
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte("\n"), 0o600))
	}
	if found, err := s.credential(t.Context(), image); err != nil || found != auth.EmptyCredential {
		t.Errorf("%+v, %v", found, err)
	}
}
