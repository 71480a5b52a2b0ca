package setrun

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Charts whose file:// dependencies lead back to them are an error, even if all of them are
// loaded at the same time and each waits for the next.
func TestCircularFileDependencies(t *testing.T) {
	dir := t.TempDir()
	for name, dependency := range map[string]string{"a": "b", "b": "c", "c": "a", "own": "own"} {
		text := "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\ndependencies:\n- {name: " + dependency + ", version: 1.0.0, repository: \"file://../" + dependency + "\"}\n"
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "Chart.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	side, err := Open(dir, nil, Reading{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "own"} {
		all.Go(func() {
			_, err := side.charts.load(t.Context(), releaseset.Chart{Path: name})
			if err == nil || !strings.Contains(err.Error(), "depends on itself") {
				t.Errorf("%s: %v, want an error that says that a chart depends on itself", name, err)
			}
		})
	}
	all.Wait()
}
