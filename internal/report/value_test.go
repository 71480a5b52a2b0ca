package report

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Values that are too wide are cut between words, and an image is shown by its name and
// versions: "…roepke/certgen:1.8.1" has to be puzzled over.
func TestWideValuesAreCutBetweenWords(t *testing.T) {
	const image = "spec.template.spec.containers[web].image"
	for _, c := range []struct {
		path, from, to string
		limit          int
		want           string
	}{
		{image, "ghcr.io/jkroepke/certgen:1.8.1", "ghcr.io/jkroepke/certgen:1.8.7", 70, "ghcr.io/jkroepke/certgen:1.8.1 → ghcr.io/jkroepke/certgen:1.8.7"},
		{image, "ghcr.io/jkroepke/certgen:1.8.1", "ghcr.io/jkroepke/certgen:1.8.7", 50, "certgen 1.8.1 → 1.8.7"},
		{"spec.args[0]", "ghcr.io/jkroepke/certgen:1.8.1", "ghcr.io/jkroepke/certgen:1.8.7", 50, "…/certgen:1.8.1 → …/certgen:1.8.7"},
		{"spec.args[0]", "--reloader=prometheus-config-reloader:1", "--reloader=prometheus-config-reloader:2", 50, "…-config-reloader:1 → …-config-reloader:2"},
		{"data.a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2", 33, "…aaaaaaaaaaaaa1 → …aaaaaaaaaaaaa2"},
	} {
		if got := pair(plan.Change{Path: c.path, From: c.from, To: c.to}, c.limit); got != c.want {
			t.Errorf("%s in %d columns: %q, want %q", c.from, c.limit, got, c.want)
		}
	}
}
