package findings

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Dotenv prints what plans come to as KEY=VALUE lines, for jobs that come after: GitHub's
// GITHUB_OUTPUT (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands)
// and GitLab's dotenv reports (https://docs.gitlab.com/ci/yaml/artifacts_reports/) take them.
// There are counts, digests and words of ours, and of the plan's texts nothing but the
// verdict. Errors are those of w.
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
		changed, blocked, gravest(sum.Risks), of.Digest, of.Effect, Verdict(plans...), counts)
	return err
}

// gravest is the first of plan.Risks that there is, else "none".
func gravest(r plan.RiskCounts) plan.Risk {
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
