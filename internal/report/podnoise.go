package report

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/plan"
)

// podNoise says whether pods restart, and sums up changes that have no other effect: labels and
// checksums of the pod template. quiet reports whether these need no lines of their own; a single
// one keeps its line, and in the full output all do.
func (w entryWriter) podNoise(s *plan.Step) (text string, quiet bool) {
	labels, checksums, others := 0, 0, 0
	for _, c := range s.Changes {
		noise, ofPods := isPodNoise(c), strings.HasPrefix(c.Path, "spec.template.")
		switch {
		case c.OfLabel() && (noise || ofPods && w.folds.has(s, c)):
			labels++
		case noise:
			checksums++
		case ofPods && !w.folds.has(s, c):
			others++
		}
	}
	restart := ""
	if s.Restarts() && (s.Op == plan.OpPatch || s.InPlace()) {
		restart = "pods restart"
	}
	if w.view.full || !foldable(s) || labels+checksums < 2 && !w.folds.restarts[s.ID] {
		return restart, false
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
	switch {
	case restart != "" && others > 0:
		return restart + "; " + what + ", too", true
	case restart != "":
		return restart + ": " + what, true
	}
	return what, true
}

// isPodNoise reports whether a change is of a label of an object's pods that names the chart or its
// version, or of a checksum by which charts restart them. Services, network policies and others may
// select pods by any other label, and drift is never noise.
func isPodNoise(c plan.Change) bool {
	parts := jsontree.Fields(c.Path)
	n := len(parts)
	if n < 4 || parts[n-3] != "metadata" || c.Cause == plan.CauseDrift {
		return false
	}
	return isNoise(parts[n-2], parts[n-1])
}

// isNoise reports whether a label names the chart or its version, or an annotation is a checksum. field is where
// the key is, "labels" or "annotations".
func isNoise(field, key string) bool {
	return field == "labels" && slices.Contains(chartLabels(), key) ||
		field == "annotations" && strings.Contains(strings.ToLower(key), "checksum")
}

// chartLabels are the labels for the chart and its version, by Helm's conventions of today and before:
// https://helm.sh/docs/chart_best_practices/labels/
func chartLabels() []string { return []string{"helm.sh/chart", "app.kubernetes.io/version", "chart"} }
