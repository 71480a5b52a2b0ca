package values

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// archives reads test cases, by name. It fails when there are none.
func archives(t *testing.T, pattern string) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test cases at %s (%v)", pattern, err)
	}
	out := map[string]*txtar.Archive{}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Comment) == 0 {
			t.Errorf("%s does not say why it exists", p)
		}
		out[filepath.Base(p)] = a
	}
	return out
}
