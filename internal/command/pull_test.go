package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// folder returns the names of what is in a folder.
func (d *desk) folder(name string) []string {
	d.t.Helper()
	entries, err := os.ReadDir(name)
	if err != nil {
		d.t.Fatal(err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// An index chooses neither the names of other files than archives, nor what is written under them.
func TestPullWritesArchivesOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		url     string
		content []byte
		want    []string
	}{
		"another file's name": {"x/.bashrc", sourcetest.Chart(t, "alpha", "1.0.0", ""), []string{".bashrc", "alpha-1.0.0.tgz"}},
		"no name":             {"?x=y", sourcetest.Chart(t, "alpha", "1.0.0", ""), []string{".bashrc", "alpha-1.0.0.tgz"}},
		"an archive's name":   {"x/a.tgz", sourcetest.Chart(t, "alpha", "1.0.0", ""), []string{".bashrc", "a.tgz"}},
		"no chart":            {"x/a.tgz", []byte("rm -r .\n"), []string{".bashrc"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
			path, _, _ := strings.Cut(tc.url, "?")
			server.Put("/"+path, tc.content)
			server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: tc.url}))
			d.file("to/.bashrc", "mine")
			a := d.types("pull alpha --repo " + server.URL + " -d to")
			if got := d.folder("to"); !slices.Equal(got, tc.want) || (a.code == exitDone) != (len(tc.want) == 2) {
				t.Errorf("exit code %d, %q, want %q\n%s", a.code, got, tc.want, a.err)
			}
			if data, err := os.ReadFile("to/.bashrc"); err != nil || string(data) != "mine" {
				t.Errorf("the file that was there holds %q, %v", data, err)
			}
		})
	}
}

// An unpacked chart has nothing of Git's own, which could have programs run.
func TestPullUnpacksNothingOfGit(t *testing.T) {
	d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
	server.Put("/alpha-1.0.0.tgz", sourcetest.Archive(t, "alpha", map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: alpha\nversion: 1.0.0\n", ".gitignore": "x", ".git/config": "[core]", "docs/.GIT/hooks/post-checkout": "x", "docs/a.md": "x",
	}))
	d.must("pull " + server.URL + "/alpha-1.0.0.tgz --untar -d to")
	if got, docs := d.folder("to/alpha"), d.folder(filepath.Join("to", "alpha", "docs")); !slices.Equal(got, []string{".gitignore", "Chart.yaml", "docs"}) || !slices.Equal(docs, []string{"a.md"}) {
		t.Errorf("%q, %q", got, docs)
	}
}
