package manifest_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// TestEntries: containers count, and so does each item and key; a pair in a flow sequence is a mapping of
// its own, so its comma and its colon both count.
func TestEntries(t *testing.T) {
	for text, want := range map[string]int{
		"a: 1\nb: 2\n": 2, "- a: 1\n- b: 2\n": 4, "[a, b, c]": 3, "[a: 1, b: 2]": 4, "{a: 1, b: 2}": 4, "[[[[": 4, ",,,,": 4, "? a\n: b\n": 2,
	} {
		if got := manifest.Entries(text); got != want {
			t.Errorf("%q has %d entries, want %d", text, got, want)
		}
	}
}

// What a chart renders may have 600,000 entries, no more than 300,000 of them in one document.
func TestManyEntries(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: " // 6 entries
	of := func(entries int) string { return head + "[" + strings.Repeat(",", entries-7) + "]\n" }
	for _, test := range []struct {
		text, says string
	}{
		{of(300_001), "a document has more than 300000 entries"},
		{of(300_000) + "---\n" + of(299_990) + "---\n" + of(11), "the chart renders more than 600000 entries in all"},
	} {
		_, err := manifest.Classify([]manifest.File{file("web/templates/a.yaml", test.text)})
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "web/templates/a.yaml") {
			t.Errorf("%v, want %q", err, test.says)
		}
	}
	texts := make([]string, 20_000) // 20,000 objects of 26 entries
	for i := range texts {
		texts[i] = head + "{" + strings.Repeat("k: a, ", 9) + "k: a}\n"
	}
	if all, err := manifest.Classify([]manifest.File{file("web/templates/a.yaml", strings.Join(texts, "---\n"))}); err != nil || len(all.Documents) != len(texts) {
		t.Errorf("%d documents: %v", len(all.Documents), err)
	}
}
