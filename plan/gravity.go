package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// gravity ranks changes of an object by what depends on the changed field, the gravest first.
type gravity int

const (
	// gravestClaims: which volumes exist, their size, and how long they live.
	gravestClaims gravity = iota
	// gravestIdentity: which pods belong to the object, and their network names.
	gravestIdentity
	// gravestMounts: which data is mounted where.
	gravestMounts
	gravestImage
	gravestEnvironment
	// gravestResources: how many pods run, and how much they may use.
	gravestResources
	gravestRest
	// gravestChecksum: labels, annotations, descriptions, and numbers that don't affect running
	// pods.
	gravestChecksum
)

// Gravest returns the change of the object's spec that a reviewer should see first, and the number
// of other changes; ok is false if the spec does not change.
func (s *Step) Gravest() (gravest Change, others int, ok bool) {
	var changes []Change
	for _, c := range s.Changes {
		if within(c.Path, "spec") {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return Change{}, 0, false
	}
	gravest = slices.MinFunc(changes, func(a, b Change) int { return int(s.gravity(a) - s.gravity(b)) })
	return gravest, len(changes) - 1, true
}

// Gravity returns a rank for a change of the step's object: the lower it is, the earlier a reviewer
// should see the change. Within the same gravity, changes that undo manual edits come first, then
// removals, changes and additions.
func (s *Step) Gravity(c Change) int {
	const ways = 4
	way := 2
	switch {
	case c.Cause == CauseDrift:
		way = 0
	case c.To == nil:
		way = 1
	case c.From == nil:
		way = 3
	}
	return int(s.gravity(c))*ways + way
}

func (s *Step) gravity(c Change) gravity {
	parts := jsontree.SplitPath(c.Path)
	has := func(names ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
	}
	switch {
	case has("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"):
		return gravestClaims
	case has("serviceName", "podManagementPolicy", "ordinals"), within(c.Path, "spec.selector"):
		return gravestIdentity
	case has("metadata", "annotations", "description", "revisionHistoryLimit", "progressDeadlineSeconds", "minReadySeconds"):
		return gravestChecksum
	case has("volumeMounts", "volumes") && s.movesData():
		return gravestMounts
	case parts[len(parts)-1] == "image", isContainer(parts):
		return gravestImage
	case has("livenessProbe", "readinessProbe", "startupProbe"):
		return gravestRest
	case has("env", "envFrom", "command", "args"):
		return gravestEnvironment
	case has("resources", "replicas"):
		return gravestResources
	}
	return gravestRest
}

// isContainer reports whether the path is that of a whole container, which is added or removed with
// its image.
func isContainer(parts []string) bool {
	return len(parts) > 1 && slices.Contains([]string{"containers", "initContainers"}, parts[len(parts)-2])
}
