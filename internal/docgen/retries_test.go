package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repeating is what code says that sends something again, or asks again after a pause.
var repeating = regexp.MustCompile(`\bretry\.(Pause|Read|Wait|GenericPolicy|ExponentialBackoff|RetryOnConflict|OnError)\b|[sS]leep\(ctx|\bwait\.(Poll|Until|Exponential)\w*|workqueue\.NewTyped\w*RateLimit`)

// others are files that pause and repeat no request.
var others = map[string]string{
	"apply/explain.go":        "a look into what a wait is held up by, each time anew",
	"releasestore/clock.go":   "the clock itself",
	"internal/retry/retry.go": "the helper itself",
}

// Whoever sends something again is named on the page of who retries what.
func TestRetriesPageNamesEveryOne(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "retries.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, found := string(text), 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && (name == "e2e" || entry.Name() == ".git"):
			return fs.SkipDir
		case entry.IsDir():
			if _, err := os.Stat(filepath.Join(path, "go.mod")); name != "." && err == nil {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"), strings.Contains(name, "/clustertest/"), strings.Contains(name, "/clusterfake/"):
			return nil
		}
		code, err := os.ReadFile(path)
		if err != nil || !repeating.Match(code) {
			return err
		}
		found++
		if others[name] == "" && !strings.Contains(page, name+")") {
			t.Errorf("%s repeats something (%s), and docs/retries.md does not link to it", name, repeating.Find(code))
		}
		return nil
	})
	if err != nil || found < 15 {
		t.Errorf("%d files repeat something: %v", found, err)
	}
}
