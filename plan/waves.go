package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// waves groups steps by the tier of their kinds and keeps Helm's order of kinds within
// each wave. Empty waves do not appear.
func waves(steps []Step, tier func(kinds.Kind) int, less func(a, b string) bool) []Wave {
	byTier := make([][]int, kinds.Waves)
	for i := range steps {
		t := tier(kinds.Named(steps[i].Object.Kind))
		byTier[t] = append(byTier[t], i)
	}
	var out []Wave
	for _, group := range byTier {
		if len(group) == 0 {
			continue
		}
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
		wave := Wave{Steps: make([]Step, len(group))}
		for i, at := range group {
			wave.Steps[i] = steps[at]
		}
		out = append(out, wave)
	}
	return out
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
