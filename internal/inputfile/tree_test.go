package inputfile

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Nothing that is Git's own, outside, or hidden behind a link is read, in whatever way it is asked for.
// What is hidden may be named.
func TestTree(t *testing.T) {
	dir := layout(t, map[string]string{
		"secret":                  "canary",
		"repo/.git/config":        "canary",
		"repo/.env":               "a: 1",
		"repo/plain.yaml":         "a: 1",
		"repo/sub/.git":           "canary",
		"repo/.platform/own":      "a: 1",
		"repo/.platform/linked":   "-> own",
		"repo/.platform/sub/up":   "-> ../own",
		"repo/envs/up.yaml":       "-> ../plain.yaml",
		"repo/through":            "-> envs",
		"repo/git.yaml":           "-> .git/config",
		"repo/env.yaml":           "-> .env",
		"repo/platform.yaml":      "-> .platform/own",
		"repo/folder":             "-> .git",
		"repo/twice":              "-> folder",
		"repo/out.yaml":           "-> ../secret",
		"repo/above":              "-> ..",
		"repo/..2026_11/values":   "a: 1",
		"repo/..data":             "-> ..2026_11",
		"repo/mounted":            "-> ..data/values",
		"repo/.platform/from_git": "-> ../.git/config",
	})
	tree, err := OpenTree(filepath.Join(dir, "repo"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tree.Close() }()
	const git, hidden, escapes = "it is Git's own", "which is hidden", "escapes"
	for name, want := range map[string]string{
		"plain.yaml": "", ".env": "", ".platform/own": "", ".platform/linked": "", ".platform/sub/up": "",
		"envs/up.yaml": "", "through/up.yaml": "", "mounted": "",
		".git/config": git, ".GIT/config": git, ".git/none": git, "sub/.git": git, "envs/.Git/config": git,
		"git.yaml": hidden, "env.yaml": hidden, "platform.yaml": hidden, "folder/config": hidden, "twice/config": hidden, ".platform/from_git": hidden,
		"out.yaml": escapes, "above/secret": escapes, "none.yaml": "no such file", "../secret": "invalid",
	} {
		data, err := fs.ReadFile(tree, name)
		_, of := fs.Stat(tree, name)
		f, opened := tree.Open(name)
		if f != nil {
			_ = f.Close()
		}
		for _, err := range []error{err, of, opened} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if want == "" && string(data) != "a: 1" {
			t.Errorf("%s: %q", name, data)
		}
	}
	for _, name := range []string{".git", "folder", "twice", "above"} {
		if entries, err := fs.ReadDir(tree, name); err == nil {
			t.Errorf("%s: %v", name, entries)
		}
	}
	found, err := fs.Glob(tree, "*/*")
	if err != nil || slices.ContainsFunc(found, OfGit) || !slices.Contains(found, "envs/up.yaml") {
		t.Errorf("%v, %v", found, err)
	}
}

// What a file system of Windows or macOS takes for .git is Git's own, too.
func TestOfGit(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, "a/.GIT/config": true, ".git./config": true, ".git . ./HEAD": true, ".git::$INDEX_ALLOCATION/HEAD": true,
		".git:x": true, "git~1/HEAD": true, "a/GIT~4": true, ".g\u200cit/HEAD": true, "\ufeff.git\u200d": true,
		".gitignore": false, ".git.yaml": false, ".github/x": false, "git": false, "git~x": false, "a.git/x": false, "gi\u0301t~1": false,
	} {
		if OfGit(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
