package patch

import (
	"os"
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
	objecttest.Cases(t, "testdata/merge/*.txtar", 1, runMerge)
}

func runMerge(t *testing.T, file string, archive *txtar.Archive) {
	docs := objecttest.Sections(archive)
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
