package objecttest

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Cases runs a subtest for each txtar archive that matches pattern, under the file's
// name. There must be at least least of them, each with a comment that says why it exists.
func Cases(t *testing.T, pattern string, least int, run func(t *testing.T, file string, archive *txtar.Archive)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%d cases at %s, want %d: %v", len(files), pattern, least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(archive.Comment)) == 0 {
				t.Fatalf("%s does not say why it exists", file)
			}
			run(t, file, archive)
		})
	}
}

// Sections returns the files of an archive, by name.
func Sections(archive *txtar.Archive) map[string]string {
	sections := make(map[string]string, len(archive.Files))
	for _, f := range archive.Files {
		sections[f.Name] = string(f.Data)
	}
	return sections
}
