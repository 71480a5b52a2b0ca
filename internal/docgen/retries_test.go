package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repeating matches code that sends something again, or polls with pauses.
var repeating = regexp.MustCompile(`\bretry\.(Pause|Read|Wait|GenericPolicy|ExponentialBackoff|RetryOnConflict|OnError)\b|[sS]leep\(ctx|\bwait\.(Poll|Until|Exponential)\w*|workqueue\.NewTyped\w*RateLimit`)

// others are files that pause but repeat no requests.
var others = map[string]string{
	"apply/explain.go":        "a look into what a wait is held up by, each time anew",
	"releasestore/clock.go":   "the clock itself",
	"internal/retry/retry.go": "the helper itself",
}

// Every file that sends something again is named on the page about who retries what.
func TestRetriesPageNamesEveryOne(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "retries.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	productFiles(t, func(name string, code []byte) {
		forTests := strings.HasPrefix(name, "e2e/") || strings.Contains(name, "/clustertest/") || strings.Contains(name, "/clusterfake/")
		if forTests || !repeating.Match(code) {
			return
		}
		found++
		if others[name] == "" && !strings.Contains(string(page), name+")") {
			t.Errorf("%s repeats something (%s), and docs/retries.md does not link to it", name, repeating.Find(code))
		}
	})
	if found < 15 {
		t.Errorf("only %d files repeat something", found)
	}
}
