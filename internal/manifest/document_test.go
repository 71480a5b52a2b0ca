package manifest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

func TestSplit(t *testing.T) {
	for name, test := range map[string]struct {
		stream string
		want   []string
	}{
		"a separator ends a document":                     {"a: 1\n---\nb: 2\n", []string{"a: 1\n", "b: 2\n"}},
		"what follows on the separator's line is content": {"---apiVersion: v1\nkind: A\n--- # note\nkind: B", []string{"apiVersion: v1\nkind: A\n", "# note\nkind: B"}},
		"empty documents are dropped":                     {"---\n\n---\n  \n---\na: 1", []string{"a: 1"}},
		"an indented --- is text":                         {"a: |\n  ---\n  x\n", []string{"a: |\n  ---\n  x\n"}},
		"four dashes are a separator and a dash":          {"a: 1\n----\nb: 2", []string{"a: 1\n", "-\nb: 2"}},
		"CRLF stays, the separator's own ends with it":    {"a: 1\r\n---\r\nb: 2\r\n", []string{"a: 1\r\n", "b: 2\r\n"}},
		"nothing is no document":                          {" \n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, manifest.Split(test.stream)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzSplit compares Split with the pattern that Helm 4.3.1 splits by. More seeds are
// checked in below testdata/fuzz.
func FuzzSplit(f *testing.F) {
	if seeds, err := os.ReadDir("testdata/fuzz/FuzzSplit"); err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, seed := range []string{"", "---", "a\n---\nb", "--- \t---\n---x\n----", "\n---\r\n---", "a\n\n---  \n  b"} {
		f.Add(seed)
	}
	pattern := regexp.MustCompile(`(?m)^---[ \t]*`)
	f.Fuzz(func(t *testing.T, stream string) {
		var want []string
		for _, d := range pattern.Split(strings.TrimLeftFunc(stream, unicode.IsSpace), -1) {
			if strings.TrimSpace(d) != "" {
				want = append(want, strings.TrimLeftFunc(d, unicode.IsSpace))
			}
		}
		if diff := cmp.Diff(want, manifest.Split(stream)); diff != "" {
			t.Error(diff)
		}
	})
}
