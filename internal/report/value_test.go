package report

import (
	"strings"
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
		{"data.a", strings.Repeat("値", 40) + "1", strings.Repeat("値", 40) + "2", 33, "…値値値値値値1 → …値値値値値値2"},
		{"data.a", strings.Repeat("a", 40) + "1", strings.Repeat("a", 40) + "2, b", 33, `…aaaaaaaaa1" → …aaaaaaaaa2, b"`},
		{"data.a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2", 33, "…aaaaaaaaaaaaa1 → …aaaaaaaaaaaaa2"},
	} {
		if got := pair(plan.Change{Path: c.path, From: c.from, To: c.to}, c.limit); got != c.want {
			t.Errorf("%s in %d columns: %q, want %q", c.from, c.limit, got, c.want)
		}
	}
}

// Values that differ look different: a text and the structure that is written like it, an omission and a key that
// is called so.
func TestDifferentValuesLookDifferent(t *testing.T) {
	type m = map[string]any
	const limit = 100
	for _, c := range []struct {
		from, to any
		want     string
	}{
		{m{"a": "b"}, "{a: b}", `{a: b} → "{a: b}"`},
		{[]any{}, "[]", `[] → "[]"`},
		{`"[]"`, "[]", `""[]"" → "[]"`},
		{m{"x": m{"a": "b"}, "y": int64(1)}, m{"x": "{a: b}", "y": int64(1)}, `{x: {a: b}, …} → {x: "{a: b}", …}`},
		{[]any{m{"a": "b: c"}, "x"}, []any{m{"a: b": "c"}, "x"}, `[{a: b: c}, …] → [{"a: b": c}, …]`},
		{[]any{"a", "…"}, []any{"a", "b"}, `[…, "…"] → […, b]`},
		{nil, m{"name": "q", "…": m{"run": "evil"}}, `added: {name: q, …: {run: evil}}`},
		{m{"a": int64(1), "…": int64(1)}, m{"a": int64(1), "…": int64(2)}, `{…: 1, …} → {…: 2, …}`},
	} {
		if got := pair(plan.Change{Path: "spec.m", From: c.from, To: c.to}, limit); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
