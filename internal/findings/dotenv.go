package findings

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Dotenv prints the outcome of plans as KEY=VALUE lines for later jobs: GitHub's GITHUB_OUTPUT
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands) and GitLab's
// dotenv reports (https://docs.gitlab.com/ci/yaml/artifacts_reports/) accept them. They hold
// counts, digests and fixed words; the verdict is the only text that comes from the plan. Errors
// are those of w.
func Dotenv(w io.Writer, of Subject, plans ...*plan.Document) error {
	var sum plan.Summary
	changed, blocked := false, false
	for _, p := range plans {
		sum = sum.Add(p.Summary)
		changed, blocked = changed || p.Effect() == plan.EffectObjects, blocked || p.Blocked()
	}
	counts, err := json.Marshal(sum)
	if err != nil {
		return fmt.Errorf("encode the summary: %w", err)
	}
	_, err = fmt.Fprintf(w, "changed=%t\nblocked=%t\nrisk=%s\ndigest=%s\neffect_digest=%s\nverdict=%s\nsummary_json=%s\n",
		changed, blocked, mostSevere(sum.Risks), of.Digest, of.Effect, Verdict(plans...), counts)
	return err
}

// mostSevere returns the first of plan.Risks that is counted, or "none".
func mostSevere(r plan.RiskCounts) plan.Risk {
	for _, risk := range []struct {
		n    int
		name plan.Risk
	}{{r.Data, plan.RiskData}, {r.Delete, plan.RiskDelete}, {r.Recreate, plan.RiskRecreate}, {r.ScaleDown, plan.RiskScaleDown}, {r.Stateful, plan.RiskStateful}} {
		if risk.n > 0 {
			return risk.name
		}
	}
	return "none"
}
