package spelling_test

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

func TestNearest(t *testing.T) {
	for _, tc := range []struct {
		why, name  string
		candidates []string
		want       string
	}{
		{"one letter missing", "replicaCout", []string{"image", "replicaCount"}, "replicaCount"},
		{"two letters swapped are one slip", "tga", []string{"tag"}, "tag"},
		{"another case is the same word", "IMAGE", []string{"imago", "image"}, "image"},
		{"the nearest, not the first", "labels", []string{"lapel", "label"}, "label"},
		{"nothing is near", "image", []string{"service", "ingress"}, ""},
		{"nothing to choose from", "image", nil, ""},
	} {
		if got := spelling.Nearest(tc.name, tc.candidates); got != tc.want {
			t.Errorf("%s: %q is near %q, want %q", tc.why, got, tc.name, tc.want)
		}
	}
}

func TestNamesake(t *testing.T) {
	for _, tc := range []struct {
		why, name  string
		candidates []string
		want       string
	}{
		{"one letter missing", "enable", []string{"enabled"}, "enabled"},
		{"two slips in a long word", "replciaCuont", []string{"replicaCount"}, "replicaCount"},
		{"two slips in a short word are another word", "ports", []string{"hosts"}, ""},
		{"a slip in three letters is another word", "tap", []string{"tag"}, ""},
		{"but swapped ones are the same word", "tga", []string{"tap", "tag"}, "tag"},
		{"the same letters in another case", "Tag", []string{"tag"}, "tag"},
		{"the same letters with other separators", "node_selector", []string{"nodeSelector"}, "nodeSelector"},
		{"a word is not its own namesake", "image", []string{"image"}, ""},
	} {
		if got := spelling.Namesake(tc.name, tc.candidates); got != tc.want {
			t.Errorf("%s: namesake of %q is %q, want %q", tc.why, tc.name, got, tc.want)
		}
	}
}

// Of two equally close words, it is the one that begins alike.
func TestWord(t *testing.T) {
	for word, want := range map[string]string{
		"instal": "install", "vals": "values", "upgrad": "upgrade", "frobnicate": "", "x": "", "nv": "", "pgrade": "upgrade",
		"pugrade": "upgrade", // swapped letters are one slip
	} {
		if got := spelling.Word(word, []string{"all", "values", "install", "uninstall", "upgrade"}); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
}

// Long words are not compared letter by letter, which takes a step for each pair of letters; the same word in
// another case is found all the same.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("a", 101)
	for why, got := range map[string]string{
		"Nearest":                   spelling.Nearest(long, []string{long + "b", long[1:]}),
		"Nearest, a long candidate": spelling.Nearest(long[2:], []string{long}),
		"Namesake":                  spelling.Namesake(long, []string{long + "b"}),
		"Word":                      spelling.Word(long, []string{long + "b"}),
		"Word, a long candidate":    spelling.Word(long[2:], []string{long}),
	} {
		if got != "" {
			t.Errorf("%s finds %q", why, got)
		}
	}
	upper := strings.ToUpper(long)
	if spelling.Nearest(long, []string{upper}) != upper || spelling.Namesake(long, []string{upper}) != upper {
		t.Error("another case is not found")
	}
}
