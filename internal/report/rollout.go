package report

import (
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// rollouts lists the workloads that have no available pod for a while, or fewer than a
// PodDisruptionBudget wants, and, in formats with room for it, how many pods the others have.
func (w impactWriter) rollouts(all []plan.Rollout) []string {
	var gaps, others []string
	for _, r := range all {
		name := w.names.name(r.Object)
		switch {
		case r.Least == 0 && r.Pods == 1:
			gaps = append(gaps, name+": no pod available for a while; its only pod stops first")
		case r.Least == 0:
			gaps = append(gaps, fmt.Sprintf("%s: no pod available for a while; its %d pods may stop all at once", name, r.Pods))
		case len(r.Budgets) == 0:
			others = append(others, fmt.Sprintf("%s: at least %d of %s available, at most %d at once", name, r.Least, Count(int(r.Pods), "pod", "pods"), r.Most))
		}
		for _, b := range r.Budgets {
			gaps = append(gaps, fmt.Sprintf("%s: %d of %s available, fewer than the %d that PodDisruptionBudget/%s requires (it applies to evictions, not to rollouts)",
				name, r.Least, Count(int(r.Pods), "pod", "pods"), b.Wants, escape.Line(b.Name)))
		}
	}
	if w.view.bodies {
		return append(gaps, others...)
	}
	return gaps
}

// earlier returns how long the last revisions took: "revision 7: 41s", "revision 6: failed after 2m".
func (w impactWriter) earlier(runs []release.Run) []string {
	if !w.view.bodies {
		return nil
	}
	var out []string
	for _, r := range runs {
		out = append(out, fmt.Sprintf("revision %d: %s", r.Revision, took(r)))
	}
	return out
}

// took returns text such as "41s" or "failed after 2m".
func took(r release.Run) string {
	text := duration(r.Took.Round(time.Second))
	if r.Took < time.Second {
		text = "under 1s"
	}
	if r.Failed {
		return "failed after " + text
	}
	return text
}
