package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// severity ranks changes of an object by what depends on the changed field, the most severe first.
type severity int

const (
	// severityClaims: which volumes exist, their size, and how long they live.
	severityClaims severity = iota
	// severityIdentity: which pods belong to the object, and their network names.
	severityIdentity
	// severityMounts: which data is mounted where.
	severityMounts
	severityImage
	severityEnvironment
	// severityResources: how many pods run, and how much they may use.
	severityResources
	severityRest
	// severityChecksum: labels, annotations, descriptions, and numbers that don't affect running
	// pods.
	severityChecksum
)

// MostSevere returns the change of the object's spec that a reviewer should see first, and the number
// of other changes; ok is false if the spec does not change.
func (s *Step) MostSevere() (mostSevere Change, others int, ok bool) {
	var changes []Change
	for _, c := range s.Changes {
		if within(c.Path, "spec") {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return Change{}, 0, false
	}
	mostSevere = slices.MinFunc(changes, func(a, b Change) int { return int(s.severity(a) - s.severity(b)) })
	return mostSevere, len(changes) - 1, true
}

// Severity returns a rank for a change of the step's object: the lower it is, the earlier a reviewer
// should see the change. Within the same severity, changes that undo manual edits come first, then
// removals, changes and additions, then what the API server does on its own as a consequence.
func (s *Step) Severity(c Change) int {
	const ways = 5
	way := 2
	switch {
	case c.Cause == CauseDrift:
		way = 0
	case c.Cause == CauseServer:
		way = 4
	case c.To == nil:
		way = 1
	case c.From == nil:
		way = 3
	}
	return int(s.severity(c))*ways + way
}

func (s *Step) severity(c Change) severity {
	parts := jsontree.Fields(c.Path)
	has := func(names ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
	}
	switch {
	case has("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"):
		return severityClaims
	case has("serviceName", "podManagementPolicy", "ordinals"), within(c.Path, "spec.selector"):
		return severityIdentity
	case has("metadata", "annotations", "description", "revisionHistoryLimit", "progressDeadlineSeconds", "minReadySeconds"):
		return severityChecksum
	case has("volumeMounts", "volumes") && s.movesData():
		return severityMounts
	case isImage(parts), isContainer(parts):
		return severityImage
	case has("livenessProbe", "readinessProbe", "startupProbe"):
		return severityRest
	case has("env", "envFrom", "command", "args"):
		return severityEnvironment
	case has("resources", "replicas"):
		return severityResources
	}
	return severityRest
}

// isImage reports whether the path is that of an image.
func isImage(parts []string) bool { return len(parts) > 0 && parts[len(parts)-1] == "image" }

// isContainer reports whether the path is that of a whole container, which is added or removed with
// its image.
func isContainer(parts []string) bool {
	return len(parts) > 1 && slices.Contains([]string{"containers", "initContainers"}, parts[len(parts)-2])
}
