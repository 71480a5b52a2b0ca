package report

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/plan"
)

// podNoise tells in one line what restarts pods and means nothing else: labels and
// checksums of the pod template. It is "" where that is one short line anyway, or
// everything is to be shown.
func (w entryWriter) podNoise(s *plan.Step) string {
	if w.view.full || !foldable(s) {
		return ""
	}
	labels, checksums := 0, 0
	for _, c := range s.Changes {
		switch {
		case !isPodNoise(c):
		case c.OfLabel():
			labels++
		default:
			checksums++
		}
	}
	if labels+checksums < 2 && !w.folds.restarts[s.ID] {
		return ""
	}
	what := "annotations"
	switch {
	case labels > 0 && checksums > 0:
		what = "labels and checksums"
	case labels > 0:
		what = "labels"
	case checksums > 0:
		what = "checksums"
	}
	what += " of the pod template change"
	if s.Restarts() {
		return "pods restart: " + what
	}
	return what
}

// isPodNoise says whether a change is of a label of the pods that an object makes, or
// of a checksum by which charts restart them. Drift is never noise.
func isPodNoise(c plan.Change) bool {
	parts := jsontree.SplitPath(c.Path)
	n := len(parts)
	if n < 4 || parts[n-3] != "metadata" || c.Cause == plan.CauseDrift {
		return false
	}
	return parts[n-2] == "labels" || parts[n-2] == "annotations" && strings.Contains(strings.ToLower(parts[n-1]), "checksum")
}
