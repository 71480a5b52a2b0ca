package values

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// TestDocuments: cutDocument finds the documents that Kubernetes' own reader finds, and the same errors.
func TestDocuments(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := []string{"", " ", "a: 1", "---", "--- # b", "---\t", "---c", " ---", "--", "----", "...", "\r", "# ---"}
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(7) {
			b.WriteString(lines[random.IntN(len(lines))] + "\n")
		}
		data := []byte(b.String())
		var got, want []string
		reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		doc, theirs := reader.Read()
		for ; theirs == nil; doc, theirs = reader.Read() {
			want = append(want, string(doc))
		}
		var ours error
		for rest := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")); len(rest) > 0 && ours == nil; {
			if doc, rest, ours = cutDocument(rest); ours == nil {
				got = append(got, string(doc))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", data, diff)
		}
		if ours != nil && ours.Error() != theirs.Error() || ours == nil && theirs.Error() != "EOF" {
			t.Fatalf("%q: error %v, want %v", data, ours, theirs)
		}
	}
}

// TestParseCopiesNoText: comments, most of what large values files consist of, are read where they are.
func TestParseCopiesNoText(t *testing.T) {
	const lines = 20_000
	data := []byte("a: 1\n" + strings.Repeat("# a comment that says what a value is for\n", lines))
	allocations := testing.AllocsPerRun(2, func() {
		if _, _, err := Parse(data, "values.yaml"); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > lines/10 {
		t.Errorf("parsing %d comments takes %.0f allocations", lines, allocations)
	}
}
