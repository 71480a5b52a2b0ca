package source

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// A note that something has damaged is as good as none.
func TestDamagedNotes(t *testing.T) {
	image := resolve.Image{Host: "registry.example.com", Path: "charts/alpha", Tag: "1.0.0"}
	for _, note := range []string{"", "x", "sha256:", "1.0.0", "1.0.0 ", "1.0.0 x", "1.0.0 sha256:0a", " sha256:../../..", "\x00"} {
		s := ours(t)
		s.Offline = true
		for _, ref := range []resolve.Reference{
			{Kind: resolve.Remote, URL: "https://charts.example.com/alpha-1.0.0.tgz"}, {Kind: resolve.Registry, Image: image},
		} {
			must(t, s.note("https://charts.example.com/alpha-1.0.0.tgz", note))
			must(t, s.note(image.String(), note))
			if _, err := fetch(t, s, ref); err == nil {
				t.Errorf("%q: a chart was found", note)
			} else if _, is := errors.AsType[*OfflineError](err); !is {
				t.Errorf("%q: %v", note, err)
			}
		}
	}
}

// Without a cache there is nothing to prune: least of all in the working directory.
func TestPruneWithoutACache(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.MkdirAll(notesFolder, 0o755))
	file := filepath.Join(notesFolder, "release.sha256")
	must(t, os.WriteFile(file, []byte(Digest(nil)), 0o600))
	s := ours(t)
	s.Paths.ContentCache = ""
	files, err := s.Cache()
	if err != nil {
		t.Fatal(err)
	}
	must(t, s.Prune(files))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
