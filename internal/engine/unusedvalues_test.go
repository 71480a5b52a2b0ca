package engine

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/keyuse"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// One misspelt name in very many tables is told of as often as very many names are.
func TestMisspeltKeysAreLimited(t *testing.T) {
	var unknown []values.UnknownKeys
	var seen []keyuse.Seen
	for range 2 * maxMisspelt {
		unknown = append(unknown, values.UnknownKeys{Keys: []values.UnknownKey{{Name: "prot", Branch: &values.Branch{}}}})
		seen = append(seen, keyuse.Seen{Unread: []string{"prot"}, Read: []string{"port"}})
	}
	s := Source{Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web"}}}
	if got := misspeltKeys(s, nil, unknown, seen); len(got) != maxMisspelt || got[0].meant != "port" {
		t.Errorf("%d keys are told of, want %d", len(got), maxMisspelt)
	}
}
