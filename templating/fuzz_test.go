package templating_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/templating"
)

// FuzzRender renders any text with any other as a partial: the outcome is text
// or an *Error, never a panic, and stays within the limits. Its seeds are the
// snippets and testdata/fuzz.
func FuzzRender(f *testing.F) {
	files, err := filepath.Glob("testdata/snippets/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		if ok, _ := filepath.Match("limit-*", filepath.Base(file)); ok {
			continue // they are slow
		}
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(archive.Files[0].Data), `{{ define "p" }}{{ . }}{{ end }}`)
	}
	f.Fuzz(func(t *testing.T, text, partial string) {
		values := map[string]any{"a": "x", "n": 1.5, "m": map[string]any{"k": nil}, "l": []any{"x", 1.0, nil}, "t": text}
		_, err := templating.Render(tree(map[string]string{"x.yaml": text, "_p.tpl": partial}),
			map[string]any{"Values": values, "Capabilities": templating.DefaultCapabilities()}, templating.Options{})
		var e *templating.Error
		if err != nil && (!errors.As(err, &e) || e.File == "" || e.Message == "") {
			t.Errorf("an error without a place: %v", err)
		}
	})
}

// The seeds in testdata/fuzz must exist.
func TestFuzzSeeds(t *testing.T) {
	seeds, err := os.ReadDir("testdata/fuzz/FuzzRender")
	if err != nil || len(seeds) == 0 {
		t.Errorf("no seeds: %v", err)
	}
}
