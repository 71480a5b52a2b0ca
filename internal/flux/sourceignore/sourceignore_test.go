package sourceignore

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// left returns the files of a tree that a source keeps.
func left(t *testing.T, tree fs.FS, ignore *string) string {
	t.Helper()
	found, err := Find(tree)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	err = fs.WalkDir(found.With(ignore).Tree(tree), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// What a GitRepository excludes from its artifact (FLUX.md §2): by default, by spec.ignore and
// by .sourceignore files.
func TestWhatASourceLeavesOut(t *testing.T) {
	files := []string{
		"README.md", "logo.png", "a.zip", ".gitignore", ".github/ci.yaml", "cloudbuild.yaml", "x/.sops.yaml",
		"charts/web/Chart.yaml", "charts/web/docs/logo.png", "charts/web/templates/a.yaml", "apps/charts/a.yaml",
	}
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		why    string
		ignore *string
		extra  map[string]string
		want   string
	}{
		{"nobody says anything", nil, nil, "README.md apps/charts/a.yaml charts/web/Chart.yaml charts/web/templates/a.yaml"},
		{"an empty text says nothing", text("\n# a comment\n"), nil, "README.md apps/charts/a.yaml charts/web/Chart.yaml charts/web/templates/a.yaml"},
		{
			"spec.ignore stands in the place of what is usual, but not of Git's own", text("*.md"), nil,
			".github/ci.yaml a.zip apps/charts/a.yaml charts/web/Chart.yaml charts/web/docs/logo.png charts/web/templates/a.yaml cloudbuild.yaml logo.png x/.sops.yaml",
		},
		{"all but a folder", text("/*\n!/charts/\n"), nil, "charts/web/Chart.yaml charts/web/docs/logo.png charts/web/templates/a.yaml"},
		{"a name at any depth", text("/*\n!charts\n"), nil, "apps/charts/a.yaml charts/web/Chart.yaml charts/web/docs/logo.png charts/web/templates/a.yaml"},
		{"any number of folders", text("/*\n!/**/web/*.yaml\n"), nil, "charts/web/Chart.yaml"},
		{"and what is below", text("/*\n!/charts/**\n/charts/web/docs/**"), nil, "charts/web/Chart.yaml charts/web/templates/a.yaml"},
		{"a folder is no file", text("/*\n!/charts\nChart.yaml/\nweb/templates/a.yaml/\n"), nil, "charts/web/Chart.yaml charts/web/docs/logo.png charts/web/templates/a.yaml"},
		{
			"a file of rules holds below its folder", nil,
			map[string]string{"charts/.sourceignore": "/web/docs/\ntemplates\n", ".sourceignore": "/*.*\n/apps\n/x\n.github/\n"},
			"charts/.sourceignore charts/web/Chart.yaml",
		},
		{"spec.ignore has the last word", text("!logo.png"), map[string]string{".sourceignore": "/*\n"}, "charts/web/docs/logo.png logo.png"},
	} {
		tree := fstest.MapFS{}
		for _, name := range files {
			tree[name] = &fstest.MapFile{}
		}
		for name, rules := range c.extra {
			tree[name] = &fstest.MapFile{Data: []byte(rules)}
		}
		if got := left(t, tree, c.ignore); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.why, got, c.want)
		}
	}
}

// Only regular files are part of a source.
func TestLinksAreNoPartOfASource(t *testing.T) {
	tree := fstest.MapFS{"a.yaml": {}, "link.yaml": {Mode: fs.ModeSymlink, Data: []byte("a.yaml")}}
	if got := left(t, tree, nil); got != "a.yaml" {
		t.Error(got)
	}
	found, err := Find(tree)
	if err != nil {
		t.Fatal(err)
	}
	source := found.With(nil).Tree(tree)
	if _, err := fs.ReadFile(source, "link.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link is read: %v", err)
	}
	if _, err := fs.Stat(source, "link.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link is there: %v", err)
	}
	if _, err := source.Open("a.yaml"); err != nil {
		t.Error(err)
	}
}

// What is behind a link to a folder is not part of a source under that path.
func TestFoldersBehindLinksAreNoPartOfASource(t *testing.T) {
	tree := fstest.MapFS{"real/team/a.yaml": {}, "link": {Mode: fs.ModeSymlink, Data: []byte("real")}}
	found, err := Find(tree)
	if err != nil {
		t.Fatal(err)
	}
	source := found.With(nil).Tree(tree)
	for folder, there := range map[string]bool{"real": true, "link": false} {
		_, opened := source.Open(folder + "/team/a.yaml")
		_, read := fs.ReadFile(source, folder+"/team/a.yaml")
		_, listed := fs.ReadDir(source, folder+"/team")
		_, stat := fs.Stat(source, folder+"/team")
		for what, err := range map[string]error{"open": opened, "read": read, "list": listed, "stat": stat} {
			if (err == nil) != there || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s in %s: %v", what, folder, err)
			}
		}
	}
}

func TestRulesAreBounded(t *testing.T) {
	for name, text := range map[string]string{"bytes": strings.Repeat("#", maxBytes+1), "rules": strings.Repeat("a\n", maxRules+1)} {
		if _, err := Find(fstest.MapFS{"a/.sourceignore": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Check 55 of FLUX.md: no text of rules and no name makes it fail.
func FuzzCheck55Rules(f *testing.F) {
	for _, seed := range []string{"/*\n!/charts/", "**/a", "a/**/b/", "[", "\\ ", "!", "/", "//", "a**b/c"} {
		f.Add(seed, "charts/a/b")
	}
	f.Fuzz(func(_ *testing.T, text, name string) {
		(&Found{}).With(&text).Omits(name, 0)
	})
}
