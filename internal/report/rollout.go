package report

import (
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// rollouts lists the workloads that have no available pod for a while, or fewer than a
// PodDisruptionBudget wants, and, in formats with room for it, how many pods the others have. These formats
// name all workloads with a gap.
func (w impactWriter) rollouts(all []plan.Rollout) []string {
	var gaps, others []saying
	for _, r := range all {
		name := w.names.name(r.Object)
		switch {
		case r.Least == 0 && r.Before == 1:
			gaps = append(gaps, saying{name, "no pod available for a while; its only pod stops first", "no pod available for a while; the only pod of each stops first"})
		case r.Least == 0:
			gap := fmt.Sprintf("no pod available for a while; its %d pods may stop all at once", r.Before)
			gaps = append(gaps, saying{name, gap, fmt.Sprintf("no pod available for a while; the %d pods of each may stop all at once", r.Before)})
		case len(r.Budgets) == 0:
			least, most := fmt.Sprintf("at least %d of %s available", r.Least, Count(int(r.Pods), "pod", "pods")), fmt.Sprintf(", at most %d at once", r.Most)
			others = append(others, saying{name, least + most, least + " in each" + most})
		}
		for _, b := range r.Budgets {
			short := fmt.Sprintf("%d of %s available, fewer than the %d that PodDisruptionBudget/%s requires (it applies to evictions, not to rollouts)",
				r.Least, Count(int(r.Pods), "pod", "pods"), b.Wants, escape.Line(b.Name))
			gaps = append(gaps, saying{name, short, short})
		}
	}
	const shown = 6
	if w.view.bodies {
		return append(saidOnce(gaps, 0), saidOnce(others, w.limit(shown))...)
	}
	return saidOnce(gaps, w.limit(shown))
}

// saying is what is said of one object, and the same of each of several.
type saying struct{ name, one, each string }

// saidOnce says the same of minFold objects or more only once, so that it does not crowd out what comes below, and
// names at most limit of them (0: all).
func saidOnce(all []saying, limit int) []string {
	alike := map[string][]string{}
	for _, s := range all {
		alike[s.one] = append(alike[s.one], s.name)
	}
	var out []string
	for _, s := range all {
		switch names := alike[s.one]; {
		case len(names) < minFold:
			out = append(out, s.name+": "+s.one)
		case names[0] == s.name:
			out = append(out, list(names, limit)+": "+s.each)
		}
	}
	return out
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
