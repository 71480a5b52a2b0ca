package dependency

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A dependency without a repository has to be in charts/ in a version that Chart.yaml allows.
func TestVendored(t *testing.T) {
	for name, tc := range map[string]struct {
		wanted  string
		files   map[string]string
		refused string
	}{
		"a folder":                    {"^1", map[string]string{"foo/Chart.yaml": chartYAML("foo", "1.2.0")}, ""},
		"an archive":                  {"^1", map[string]string{"foo-1.2.0.tgz": archiveOf(t, "foo", "1.2.0")}, ""},
		"an archive, named otherwise": {"^1", map[string]string{"x.tgz": archiveOf(t, "foo", "1.2.0")}, ""},
		"one of two":                  {"^1", map[string]string{"a.tgz": archiveOf(t, "foo", "2.0.0"), "b.tgz": archiveOf(t, "foo", "1.2.0")}, ""},
		"any version":                 {"*", map[string]string{"foo/Chart.yaml": chartYAML("foo", "1.2.0")}, ""},
		"a folder, another version":   {">=2", map[string]string{"foo/Chart.yaml": chartYAML("foo", "1.0.0")}, `dependency foo: version 1.0.0 does not satisfy ">=2"`},
		"an archive, another version": {">=2", map[string]string{"foo-1.0.0.tgz": archiveOf(t, "foo", "1.0.0")}, `dependency foo: version 1.0.0 does not satisfy ">=2"`},
		"a folder without Chart.yaml": {"^1", map[string]string{"foo/values.yaml": "{}"}, "is not in charts/"},
		"nothing":                     {"^1", map[string]string{"bar/Chart.yaml": chartYAML("bar", "1.0.0")}, "is not in charts/"},
	} {
		t.Run(name, func(t *testing.T) {
			none := func(string) (string, bool) { return "", false }
			o := Options{Sources: &source.Sources{Paths: source.FindPaths(none, "linux", t.TempDir()), UserAgent: "test"}}
			folder := t.TempDir()
			write(t, filepath.Join(folder, "Chart.yaml"), chartYAML("um", "1.0.0")+"dependencies:\n- {name: foo, version: \""+tc.wanted+"\", repository: \"\"}\n")
			for file, content := range tc.files {
				file = filepath.Join(folder, "charts", file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, file, content)
			}
			_, updated := Update(t.Context(), folder, o)
			_, built := Build(t.Context(), folder, o)
			for _, err := range []error{updated, built} {
				if (err == nil) != (tc.refused == "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%v, want %q", err, tc.refused)
				}
			}
		})
	}
}

// Where charts/ can't be replaced as a whole, as on an overlay file system, its files are.
func TestChartsInAnOverlay(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "Chart.yaml"), chartYAML("um", "1.0.0"))
	charts := filepath.Join(folder, "charts")
	if err := os.Mkdir(charts, 0o755); err != nil {
		t.Fatal(err)
	}
	kept := archiveOf(t, "kept", "1.0.0")
	write(t, filepath.Join(charts, "kept-1.0.0.tgz"), kept)
	write(t, filepath.Join(charts, "old-1.0.0.tgz"), archiveOf(t, "old", "1.0.0"))
	f, err := readFolder(folder, chartload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := change{
		files:   map[string][]byte{"kept-1.0.0.tgz": []byte(kept), "new-1.0.0.tgz": []byte(archiveOf(t, "new", "1.0.0"))},
		removed: []string{"old-1.0.0.tgz"}, lock: &resolve.Lock{},
	}
	for why, wanted := range map[syscall.Errno]bool{syscall.EACCES: false, syscall.EXDEV: true} {
		err := f.write(c, func(string, string) error { return &os.LinkError{Op: "rename", Err: why} })
		if (err == nil) != wanted {
			t.Errorf("%v: %v", why, err)
		}
	}
	entries, err := os.ReadDir(charts)
	if err != nil || len(entries) != 2 || entries[0].Name() != "kept-1.0.0.tgz" || entries[1].Name() != "new-1.0.0.tgz" {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "Chart.lock")); err != nil {
		t.Error(err)
	}
}

func chartYAML(name, version string) string {
	return "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"
}

func archiveOf(t *testing.T, name, version string) string {
	return string(sourcetest.Chart(t, name, version, ""))
}
