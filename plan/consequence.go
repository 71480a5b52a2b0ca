package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Consequence returns a rank by which steps are sorted for readers, the most important first: risks
// by severity, then restarts of pods and new images, deletions, changes to RBAC, webhooks and
// network policies, and so on; dashboards come last. Equal steps keep the order of the run.
func (s *Step) Consequence() int {
	const afterRisks = 10
	if s.Risk != "" {
		return slices.Index(Risks(), s.Risk)
	}
	rank, gk := 4, s.Object.GroupKind()
	tier := kinds.Tier(kinds.Of(gk).Tiers.Install())
	switch {
	case s.Restarts(), s.changesImage():
		rank = 0
	case s.Op == OpDelete, s.Op == OpKeep, s.Op == OpAdopt:
		rank = 1
	case gk == kinds.NetworkPolicy, tier == kinds.Roles, tier == kinds.Bindings, tier == kinds.Webhooks:
		rank = 2
	case tier == kinds.Workloads, gk == kinds.Service:
		rank = 3
	case s.LabelsOnly():
		rank = 5
	case s.dashboards():
		rank = 6
	}
	return afterRisks + rank
}

func (s *Step) changesImage() bool {
	return s.Op != OpCreate && slices.ContainsFunc(s.Changes, func(c Change) bool {
		parts := jsontree.Fields(c.Path)
		return isImage(parts) && parts[0] == "spec"
	})
}

// dashboards reports whether the object is a ConfigMap with nothing but JSON files, like those from
// which Grafana's sidecar loads dashboards.
func (s *Step) dashboards() bool {
	doc := s.outcome()
	if s.Object.GroupKind() != kinds.ConfigMap || doc == nil {
		return false
	}
	data, _ := doc.Object["data"].(map[string]any)
	for key := range data {
		if !strings.HasSuffix(key, ".json") {
			return false
		}
	}
	return len(data) > 0
}
