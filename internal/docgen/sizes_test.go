package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// short are the files with fewer than 30 lines, and why they are separate.
var short = map[string]string{
	"controller/main.go":                            "a program of its own",
	"chartload/limits.go":                           "docs/limits.md is about these constants",
	"internal/gcpacing/early/early.go":              "it is imported for its effect",
	"internal/gcpacing/hugepages_other.go":          "another operating system",
	"internal/manifest/limits.go":                   "docs/limits.md is about these constants",
	"internal/outputfile/owner_other.go":            "another operating system",
	"internal/outputfile/owner_unix.go":             "another operating system",
	"internal/outputfile/swap_darwin.go":            "another operating system",
	"internal/outputfile/swap_linux.go":             "another operating system",
	"internal/outputfile/swap_other.go":             "another operating system",
	"internal/outputfile/swap.go":                   "what its three systems have in common",
	"releasestore/clock.go":                         "the interface that tests fill",
	"releasestore/systemclock.go":                   "e2e/trust/ builds the program with another one",
	"internal/clustertest/files.go":                 "for tests",
	"internal/gittest/gittest.go":                   "it is imported for its effect",
	"e2e/trust/testdata/skewedclock/systemclock.go": "stands in the place of releasestore/systemclock.go",
}

// productFiles calls visit with each Go file of the product and its path from the root, without tests,
// doc.go and nested modules.
func productFiles(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); name != "." && err == nil || strings.HasPrefix(entry.Name(), ".git") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/doc.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(name, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// No file of the product has more than 300 lines, and none fewer than 30 without a
// reason.
func TestFilesAreOfASizeToRead(t *testing.T) {
	counted := 0
	productFiles(t, func(name string, text []byte) {
		counted++
		lines := bytes.Count(text, []byte("\n"))
		switch {
		case lines > 300:
			t.Errorf("%s has %d lines", name, lines)
		case lines < 30 && short[name] == "":
			t.Errorf("%s has %d lines: it belongs to another file, or to the list above", name, lines)
		case lines >= 30 && short[name] != "":
			t.Errorf("%s has %d lines and is listed as short", name, lines)
		}
	})
	if counted < 300 {
		t.Errorf("only %d files", counted)
	}
}
