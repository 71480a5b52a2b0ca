package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// waves groups steps by tier, in Helm's order of kinds within each wave. There
// are no empty waves. The steps are reordered in place and the waves are slices of them: a copy of
// ten thousand steps takes 5 MB.
func waves(steps []Step, tier func(*Step) int, less func(a, b string) bool) []Wave {
	byTier := make([][]int, kinds.Waves)
	for i := range steps {
		t := tier(&steps[i])
		byTier[t] = append(byTier[t], i)
	}
	for _, group := range byTier {
		slices.SortStableFunc(group, func(a, b int) int {
			switch a, b := steps[a].Object.Kind, steps[b].Object.Kind; {
			case less(a, b):
				return -1
			case less(b, a):
				return 1
			default:
				return 0
			}
		})
	}
	reorder(steps, slices.Concat(byTier...))
	var out []Wave
	for _, group := range byTier {
		if n := len(group); n > 0 {
			out = append(out, Wave{Steps: steps[:n:n]})
			steps = steps[n:]
		}
	}
	return out
}

// reorder moves the step at from[i] to i, for each i. It changes from.
func reorder(steps []Step, from []int) {
	for start := range from {
		first := steps[start]
		at := start
		for from[at] != start { // a cycle: each index gets the step of the next one
			next := from[at]
			steps[at], from[at] = steps[next], at
			at = next
		}
		steps[at], from[at] = first, at
	}
}

func installWaves(steps []Step) []Wave {
	return waves(steps, func(s *Step) int { return installTier(s.Object) }, kinds.InstallLess)
}

// installTier returns the number of the wave in which an object is sent.
func installTier(id manifest.ID) int { return kinds.Named(id.Kind).Tiers.Install() }

func (b *builder) uninstallWaves(steps []Step) []Wave {
	return waves(steps, b.removalTier, kinds.UninstallLess)
}

// removalTier returns the number of the wave that removes a step's object. A ClusterRole that aggregates others
// goes before them: when one of those goes, the controller applies the rules that are left, which creates the
// ClusterRole again, as nobody's, if it has been deleted in between (Kubernetes 1.36.3,
// pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go, syncClusterRole).
func (b *builder) removalTier(s *Step) int {
	if s.Object.GroupKind() == kinds.ClusterRole && b.aggregates(s.Object) {
		return kinds.Of(kinds.ClusterRoleBinding).Tiers.Uninstall()
	}
	return kinds.Named(s.Object.Kind).Tiers.Uninstall()
}

// aggregates reports whether a ClusterRole is filled with the rules of others, in the cluster or after this plan.
func (b *builder) aggregates(id manifest.ID) bool {
	role := b.live(id).content()
	if i, wanted := b.targets[id]; wanted {
		role = b.in.Target.Objects[i].Doc.Object
	}
	return role["aggregationRule"] != nil
}

// oneByOne puts every step into a wave of its own.
func oneByOne(steps []Step) []Wave {
	out := make([]Wave, len(steps))
	for i, s := range steps {
		out[i] = Wave{Steps: []Step{s}}
	}
	return out
}
