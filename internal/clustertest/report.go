package clustertest

import (
	"os"
	"strings"
	"sync"
	"testing"
)

// reporting is held while a page is written: tests that report may run in parallel.
var reporting sync.Mutex

// Report logs a result and, with update, replaces the section with that name in a Markdown
// page: the text between its two marks.
func Report(t testing.TB, page, section, text string, update bool) {
	t.Helper()
	t.Logf("%s\n%s", section, text)
	if !update {
		return
	}
	reporting.Lock()
	defer reporting.Unlock()
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+section+" -->\n", "<!-- /"+section+" -->"
	before, rest, found := strings.Cut(string(old), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no marks of a section %q", page, section)
	}
	if err := os.WriteFile(page, []byte(before+begin+strings.TrimSpace(text)+"\n"+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
