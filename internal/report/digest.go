package report

import (
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// digests are "effect sha256:…" and, of a plan that is saved, "plan sha256:…", as
// shown says them.
func digests(p *plan.Document, shown func(string) string) []string {
	var out []string
	if p.EffectDigest != "" {
		out = append(out, "effect "+escape.Line(shown(p.EffectDigest)))
	}
	if p.PlanDigest != "" {
		out = append(out, "plan "+escape.Line(shown(p.PlanDigest)))
	}
	return out
}

// whole is a digest as it is.
func whole(digest string) string { return digest }

// short is "sha256:0123456789ab…", by which people tell digests apart.
func short(digest string) string {
	if length := len("sha256:") + 12; len(digest) > length {
		return digest[:length] + "…"
	}
	return digest
}
