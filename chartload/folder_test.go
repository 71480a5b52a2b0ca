package chartload

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
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

// A link in a folder is followed if its target is in the folder, too, wherever the link lies.
// One that leads out of the folder is an error that names the link and its target, whether it is a
// file, a folder, a subchart or .helmignore; Options lift that. The same holds for a link
// to something hidden.
func TestFolderLinks(t *testing.T) {
	for _, tc := range []struct {
		why, link, to string
		refused       bool
	}{
		{"a file beside it", "y.txt", "inside.txt", false},
		{"a file above it", "templates/y.txt", "../inside.txt", false},
		{"an absolute link within", "y.txt", "$TOP/web/inside.txt", false},
		{"a subchart within", "charts/lib", "../shared/lib", false},
		{"a file outside", "y.txt", "../outside.txt", true},
		{"an absolute link", "y.txt", "$TOP/outside.txt", true},
		{"a folder outside", "y", "../beside", true},
		{"a subchart outside", "charts/common", "../../beside", true},
		{"rules outside", ".helmignore", "../outside.txt", true},
		{"a chart's metadata", "Chart.lock", "../outside.txt", true},
		{"what is hidden", "y.txt", ".env", true},
		{"Git's own files", "y.txt", ".git/config", true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			top := tree(t, map[string]string{
				"web/Chart.yaml": chartYAML, "web/inside.txt": "x", "web/.env": "x", "web/.git/config": "x",
				"web/shared/lib/Chart.yaml": strings.Replace(chartYAML, "web", "lib", 1), "web/shared/lib/values.yaml": "a: 1\n",
				"outside.txt": "a: b", "beside/Chart.yaml": strings.Replace(chartYAML, "web", "beside", 1),
				"web/templates/t.yaml": "", "web/charts/_README": "",
			})
			link := filepath.Join(top, "web", filepath.FromSlash(tc.link))
			if err := os.Symlink(strings.Replace(tc.to, "$TOP", top, 1), link); err != nil {
				t.Fatal(err)
			}
			_, _, err := Load(filepath.Join(top, "web"), Options{})
			outside, refused := errors.AsType[*inputfile.OutsideError](err)
			if refused != tc.refused || err != nil && !refused {
				t.Fatalf("error %v, refused: %v", err, tc.refused)
			}
			if refused && (outside.Link != tc.link || !strings.HasPrefix(outside.Target, top)) {
				t.Errorf("error %v, want one that names %s and where it leads", err, tc.link)
			}
			if _, _, err := Load(filepath.Join(top, "web"), Options{OutsideLinks: true}); err != nil {
				t.Errorf("with OutsideLinks: %v", err)
			}
		})
	}
}

// A link that .helmignore excludes is not checked.
func TestIgnoredLinks(t *testing.T) {
	dir := tree(t, map[string]string{"Chart.yaml": chartYAML, ".helmignore": "y.txt\n"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "y.txt")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(dir, Options{}); err != nil {
		t.Error(err)
	}
}

// The path of a chart may be a link to a folder beside it, but not out of the folder that
// contains the link: anyone who opens a pull request could add such a link.
func TestChartThatIsALink(t *testing.T) {
	top := tree(t, map[string]string{"repo/web/Chart.yaml": chartYAML, "repo/Chart.yaml": chartYAML})
	for to, allowed := range map[string]bool{"web": true, ".": false, "..": false, "../repo/web": true, top: false} {
		link := filepath.Join(top, "repo", "chart")
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{link, link + "/"} {
			_, _, err := Load(path, Options{})
			if outside, refused := errors.AsType[*inputfile.OutsideError](err); refused == allowed {
				t.Errorf("a link to %s: %v, %v", to, err, outside)
			}
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// Git's own files are not part of a chart, even if the chart is the whole checkout.
func TestGitIsNoPartOfAChart(t *testing.T) {
	c, _, err := Load(tree(t, map[string]string{"Chart.yaml": chartYAML, ".git/config": "canary", "x/.git": "canary", ".gitignore": "y"}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".gitignore"}, names(c.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A loop, a dead link and a pipe are errors that contain the name.
func TestFolderRefused(t *testing.T) {
	for _, tc := range []struct {
		why  string
		make func(dir string) error
		want string
	}{
		{"a loop", func(dir string) error { return os.Symlink(dir, filepath.Join(dir, "y")) }, "y is a link to a folder that contains it"},
		{"a dead link", func(dir string) error { return os.Symlink("gone", filepath.Join(dir, "y")) }, "follow link y"},
		{"a pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "y"), 0o644) }, "y is a device"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			dir := tree(t, map[string]string{"Chart.yaml": chartYAML})
			if err := tc.make(dir); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Load(dir, Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// The error for a path that is not a chart says what it is instead.
func TestLoadRefused(t *testing.T) {
	dir := tree(t, map[string]string{"values.yaml": "a: 1\n"})
	for path, want := range map[string]string{
		filepath.Join(dir, "values.yaml"): "looks like a values file",
		filepath.Join(dir, "gone"):        "does not exist",
		dir:                               "Chart.yaml is missing",
	} {
		_, _, err := Load(path, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q and %q", err, path, want)
		}
	}
}

// A file that grows after its size is known is not cut at that size: values would be lost.
func TestAFileThatGrowsIsRefused(t *testing.T) {
	dir := t.TempDir()
	values := filepath.Join(dir, "values.yaml")
	for name, text := range map[string]string{filepath.Join(dir, "Chart.yaml"): "{apiVersion: v2, name: web, version: 1.0.0}", values: "a: 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grow := func(name string, _ os.FileMode) bool {
		if name == "values.yaml" {
			if err := os.WriteFile(values, []byte("a: 1\nb: 2\n"), 0o600); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	if _, _, err := Load(dir, Options{Omits: grow}); err == nil || !strings.Contains(err.Error(), "read values.yaml: it has more than the 5 bytes") {
		t.Errorf("error %v", err)
	}
}
