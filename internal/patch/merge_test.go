package patch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// TestThreeWay runs the merges in testdata/merge. Each archive's comment says
// why the case exists; its files are the three documents ("stored" may be
// missing) and the patch as it must be, "" when there is none. "after", where
// given, is what live must become.
func TestThreeWay(t *testing.T) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			runMerge(t, file)
		})
	}
}

func runMerge(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Comment) == 0 {
		t.Fatal("the case does not say why it exists")
	}
	docs := map[string]string{}
	for _, f := range archive.Files {
		docs[f.Name] = string(f.Data)
	}
	stored, live, target := objecttest.Parse(t, docs["stored"]), objecttest.Parse(t, docs["live"]), objecttest.Parse(t, docs["target"])
	before := live.DeepCopy()
	p, after := mustMerge(t, stored, live, target)
	if diff := cmp.Diff(before, live); diff != "" {
		t.Errorf("live was changed (-before +now):\n%s", diff)
	}
	got := string(p.Type)
	if !p.Empty() {
		got += "\n" + string(p.Data)
	}
	if os.Getenv("UPDATE") != "" {
		update(t, archive, file, got)
	}
	if diff := cmp.Diff(strings.TrimSpace(docs["patch"]), got); diff != "" && os.Getenv("UPDATE") == "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	if want, ok := docs["after"]; ok {
		if diff := cmp.Diff(objecttest.Parse(t, want).Object, after.Object); diff != "" {
			t.Errorf("after (-want +got):\n%s", diff)
		}
	}
	if again, err := ThreeWay(target, after, target); err != nil || !again.Empty() {
		t.Errorf("the same target asks for another patch: %s, %v", again.Data, err)
	}
	if InSync(stored, live, target) && !p.Empty() {
		t.Errorf("Agree says that nothing is to be done")
	}
}

func update(t *testing.T, archive *txtar.Archive, file, patch string) {
	t.Helper()
	for i, f := range archive.Files {
		if f.Name == "patch" {
			archive.Files[i].Data = []byte(patch + "\n")
		}
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
