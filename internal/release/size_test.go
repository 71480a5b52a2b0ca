package release_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

func TestLargestParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	r := &release.Revision{
		Manifest: string(noise(2000)), Config: map[string]any{"a": "b"},
		Chart: &chart.Chart{
			Templates: []*chart.File{{Name: "templates/a.yaml", Data: noise(500)}},
			Files:     []*chart.File{{Name: "files/dump", Data: noise(9000)}, {Name: "files/zeros", Data: make([]byte, 90_000)}},
		},
	}
	var names []string
	for _, p := range release.LargestParts(r, 3) {
		names = append(names, p.What)
	}
	if diff := cmp.Diff([]string{"files/dump", "the manifest", "templates/a.yaml"}, names); diff != "" {
		t.Error(diff)
	}
}
