package report

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// digests returns "effect sha256:…" and, for a saved plan, "plan sha256:…"; shown formats each digest.
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

// whole returns a digest unchanged.
func whole(digest string) string { return digest }

// short returns the beginning of a digest, "sha256:0123456789ab…", enough to tell digests apart.
func short(digest string) string {
	if length := len("sha256:") + 12; len(digest) > length {
		return digest[:length] + "…"
	}
	return digest
}

// failed takes the place of the effect digest where there can be no plan.
const failed = "failed"

// setEffects returns what a set's releases do, in the order of their keys: the effect digest of each
// plan, what a controller does without one, or that there can be none. It is nil if a digest is unknown.
func setEffects(d *releaseset.Document) []string {
	var out []string
	for _, what := range d.Unread {
		out = append(out, "unread "+what)
	}
	for _, r := range d.Releases {
		effect := ""
		switch {
		case r.Error != "":
			effect = failed
		case r.Plan != nil && r.Plan.EffectDigest == "":
			return nil
		case r.Plan != nil:
			effect = r.Plan.EffectDigest
		case r.Verdict != nil:
			effect = r.Verdict.Text()
		default:
			continue // nothing happens to it
		}
		out = append(out, r.Key.String()+" "+effect)
	}
	slices.Sort(out)
	return append(out, "set") // with at least two, effectLine hashes them
}

// effectLine is hidden in a comment on a pull request. The next comment compares with it, to say
// what has changed since an approval, so it has the whole digest: two plans whose digests begin
// alike can be found. It is "" if a plan has no effect digest.
func effectLine(s plan.Summary, blocked int, digests ...string) string {
	if slices.Contains(digests, "") || len(digests) == 0 {
		return ""
	}
	effect := strings.TrimPrefix(digests[0], "sha256:")
	if len(digests) > 1 {
		effect = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(digests, "\n"))))
	}
	return fmt.Sprintf("<!-- effect=%s to-create=%d to-change=%d to-recreate=%d to-delete=%d hooks=%d scaled-down=%d risks-for-data=%d blocked=%d -->\n",
		escape.Line(effect), s.Create, s.Patch+s.Replace+s.Adopt, s.Recreate, s.Delete, s.Hooks, s.Risks.ScaleDown, s.Risks.Data, blocked)
}
