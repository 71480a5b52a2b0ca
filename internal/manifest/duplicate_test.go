package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Keys given twice are reported with their line in what the file rendered.
func TestDuplicates(t *testing.T) {
	for _, tc := range []struct {
		why, content string
		want         []manifest.Duplicate
	}{
		{"none", "kind: A\nmetadata: {name: a}\n", nil},
		{"at the top and below", "kind: A\nspec:\n  a: 1\n  b: 2\n  a: 3\nkind: B\n", []manifest.Duplicate{
			{Path: "t.yaml", Line: 5, Key: "a"}, {Path: "t.yaml", Line: 6, Key: "kind"},
		}},
		{"in a later document", "\n---\nkind: A\n---\n# why\nkind: B\nspec: {x: 1, x: 2}\n", []manifest.Duplicate{{Path: "t.yaml", Line: 7, Key: "x"}}},
		{"in equal documents, each at its own line", "a: 1\na: 2\n---\n\na: 1\na: 2\n--- # why\na: 1\na: 2\n---\n", []manifest.Duplicate{
			{Path: "t.yaml", Line: 2, Key: "a"}, {Path: "t.yaml", Line: 6, Key: "a"}, {Path: "t.yaml", Line: 9, Key: "a"},
		}},
		{"equal keys in different tables", "kind: A\na: {x: 1}\nb: {x: 1}\n", nil},
		{"a key over one merged in is none", "kind: A\na: &a {x: 1}\nb: {<<: *a, x: 2}\n", nil},
		{"in a block of text", "kind: A\ndata:\n  f: |\n    x: 1\n    x: 2\n", nil},
		{"a head of odd types is read all the same", "kind: 5\nmetadata:\n  name: 1\n  annotations: {a: true, a: false}\n", []manifest.Duplicate{{Path: "t.yaml", Line: 4, Key: "a"}}},
	} {
		got, err := manifest.Classify([]manifest.File{{Path: "t.yaml", Content: tc.content}})
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
			continue
		}
		if diff := cmp.Diff(tc.want, got.Duplicates); diff != "" {
			t.Errorf("%s: %s", tc.why, diff)
		}
	}
}

// The last of two equal keys counts, as before duplicates were reported.
func TestDuplicatesLastCounts(t *testing.T) {
	got, err := manifest.Classify([]manifest.File{{Path: "t.yaml", Content: "kind: A\nkind: B\nmetadata: {name: 1, name: 2}\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if head := got.Documents[0].Head; head.Kind != "B" || head.Metadata.Name != "2" {
		t.Errorf("%+v", head)
	}
}

// An error's line is counted from the document's beginning; which line of the
// file that is has to be said.
func TestErrorInLaterDocument(t *testing.T) {
	_, err := manifest.Classify([]manifest.File{{Path: "t.yaml", Content: "kind: A\n---\nkind: B\na: b: c\n"}})
	if err == nil || !strings.Contains(err.Error(), "t.yaml rendered (lines are counted from its line 3): ") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}
