package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// waves groups steps by the tier of their kinds, in Helm's order of kinds within each wave. There
// are no empty waves. The steps are reordered in place and the waves are slices of them: a copy of
// ten thousand steps takes 5 MB.
func waves(steps []Step, tier func(kinds.Kind) int, less func(a, b string) bool) []Wave {
	byTier := make([][]int, kinds.Waves)
	for i := range steps {
		t := tier(kinds.Named(steps[i].Object.Kind))
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
	return waves(steps, func(k kinds.Kind) int { return k.Tiers.Install() }, kinds.InstallLess)
}

func uninstallWaves(steps []Step) []Wave {
	return waves(steps, func(k kinds.Kind) int { return k.Tiers.Uninstall() }, kinds.UninstallLess)
}

// oneByOne puts every step into a wave of its own.
func oneByOne(steps []Step) []Wave {
	out := make([]Wave, len(steps))
	for i, s := range steps {
		out[i] = Wave{Steps: []Step{s}}
	}
	return out
}
