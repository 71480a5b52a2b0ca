package chartload

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// .helmignore leaves out files and folders by Helm's rules, which differ from
// git's: no **, and a negated rule ignores what it does not match.
func TestIgnore(t *testing.T) {
	all := []string{"a.txt", "b.md", "docs/a.txt", "docs/deep/c.md", "templates/.x", "templates/t.yaml"}
	for _, tc := range []struct {
		why, rules string
		want       []string
	}{
		{"no rules but Helm's own", "", []string{"a.txt", "b.md", "docs/a.txt", "docs/deep/c.md", "templates/t.yaml"}},
		{"a name anywhere", "a.txt", []string{"b.md", "docs/deep/c.md", "templates/t.yaml"}},
		{"a rooted name", "/a.txt", []string{"b.md", "docs/a.txt", "docs/deep/c.md", "templates/t.yaml"}},
		{"a path", "docs/*.txt", []string{"a.txt", "b.md", "docs/deep/c.md", "templates/t.yaml"}},
		{"a folder", "docs/", []string{"a.txt", "b.md", "templates/t.yaml"}},
		{"a folder rule is not for files", "a.txt/", []string{"a.txt", "b.md", "docs/a.txt", "docs/deep/c.md", "templates/t.yaml"}},
		{"comments, blanks, CRLF and a BOM", "\xEF\xBB\xBF# x\r\n\r\n  b.md \r\n", []string{"a.txt", "docs/a.txt", "docs/deep/c.md", "templates/t.yaml"}},
		{"a negated rule", "!*.txt", []string{"a.txt"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			rules, err := parseIgnore([]byte(tc.rules))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range all {
				if !ignoredWithParents(rules, name) {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
	for _, bad := range []string{"a/**", "[a"} {
		if _, err := parseIgnore([]byte("ok\n" + bad)); err == nil || !strings.Contains(err.Error(), ".helmignore line 2") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func ignoredWithParents(rules ignoreRules, name string) bool {
	for i, r := range name {
		if r == '/' && rules.match(name[:i], true) {
			return true
		}
	}
	return rules.match(name, false)
}

// Links in a folder are followed wherever they lead; a loop, a dead link and a
// pipe are errors with the name in them.
func TestFolderLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "lib")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "x.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		why  string
		make func(dir string) error
		want string
	}{
		{"a file", func(dir string) error {
			return os.Symlink(filepath.Join(outside, "x.txt"), filepath.Join(dir, "y.txt"))
		}, ""},
		{"a folder", func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "y")) }, ""},
		{"a loop", func(dir string) error { return os.Symlink(dir, filepath.Join(dir, "y")) }, "y is a link to a folder that it is in itself"},
		{"a dead link", func(dir string) error { return os.Symlink("gone", filepath.Join(dir, "y")) }, "follow link y"},
		{"a pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "y"), 0o644) }, "y is a device"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			dir := tree(t, map[string]string{"Chart.yaml": chartYAML})
			if err := tc.make(dir); err != nil {
				t.Fatal(err)
			}
			c, _, err := Load(dir)
			switch {
			case tc.want == "" && err != nil:
				t.Fatal(err)
			case tc.want == "" && (len(c.Files) != 1 || string(c.Files[0].Data) != "x"):
				t.Errorf("files: %v", names(c.Files))
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// A path that is neither folder nor archive says what it is.
func TestLoadRefused(t *testing.T) {
	dir := tree(t, map[string]string{"values.yaml": "a: 1\n"})
	for path, want := range map[string]string{
		filepath.Join(dir, "values.yaml"): "looks like a values file",
		filepath.Join(dir, "gone"):        "no such file",
		dir:                               "Chart.yaml is missing",
	} {
		_, _, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q and %q", err, path, want)
		}
	}
}
