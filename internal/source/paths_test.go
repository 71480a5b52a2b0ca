package source

import (
	"errors"
	"os"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

func nothingSet(string) (string, bool) { return "", false }

// Without a home folder, paths in it are empty, and so is every path below them: the working directory
// does not take its place. What is fetched is used, but not kept.
func TestPathsWithoutAHomeFolder(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		p := FindPaths(nothingSet, goos, "")
		named := append(p.credentialFiles(), p.Cache, p.Config, p.Data, p.RepositoryConfig, p.RepositoryCache, p.ContentCache, p.Plugins, p.Netrc,
			p.Settings, p.GnuPG, p.hosts(), p.repositoriesLock(), p.index("a"), p.charts("a"), p.answer("a"), p.keyring())
		for _, path := range named {
			if path != "" {
				t.Errorf("%s: %q", goos, path)
			}
		}
	}
	t.Chdir(t.TempDir())
	s := &Sources{Paths: FindPaths(nothingSet, "linux", "")}
	digest, err := s.keep([]byte("chart"), chartContent)
	if err != nil || digest != Digest([]byte("chart")) {
		t.Errorf("%s, %v", digest, err)
	}
	must(t, s.note("https://charts.example.com/a.tgz", digest))
	must(t, s.KeepIndexed(".", Indexed{}))
	for what, err := range map[string]error{
		"a lock":  func() error { _, err := s.LockChart(t.Context(), "."); return err }(),
		"a host":  s.changeHosts(t.Context(), func(resolve.Hosts) bool { return true }),
		"a login": func() error { _, err := s.Login(t.Context(), "registry.example.com", "u", "p"); return err }(),
		"an index": func() error {
			_, err := s.fetchIndex(t.Context(), "a", "https://charts.example.com", Access{})
			return err
		}(),
		"a repository": s.changeRepositories(t.Context(), func(*resolve.Repositories) (bool, error) { return true, nil }),
	} {
		if !errors.Is(err, errNoFolder) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("the working directory has %v, %v", files, err)
	}
}
