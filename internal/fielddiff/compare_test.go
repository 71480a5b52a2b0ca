package fielddiff

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// TestDiff runs testdata/diff: "before" and "after" in, one change a line out.
func TestDiff(t *testing.T) {
	files, err := filepath.Glob("testdata/diff/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Comment) == 0 {
				t.Fatal("the case can't be read or does not say why it exists", err)
			}
			docs := map[string]string{}
			for _, f := range archive.Files {
				docs[f.Name] = string(f.Data)
			}
			var got strings.Builder
			for _, c := range Compare(content(t, docs["before"]), content(t, docs["after"])) {
				fmt.Fprintf(&got, "%s %s: %v → %v\n", c.Op, c.Path, c.From, c.To)
			}
			if diff := cmp.Diff(docs["changes"], got.String()); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func content(t *testing.T, text string) map[string]any {
	t.Helper()
	if u := objecttest.Parse(t, text); u != nil {
		return u.Object
	}
	return nil
}
