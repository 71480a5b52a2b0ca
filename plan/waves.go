package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// waves groups steps by the tier of their kinds and keeps Helm's order of kinds within
// each wave. Empty waves do not appear.
func waves(steps []Step, tier func(kinds.Kind) int, less func(a, b string) bool) []Wave {
	byTier := make([][]Step, kinds.Waves)
	for _, s := range steps {
		t := tier(kinds.Named(s.Object.Kind))
		byTier[t] = append(byTier[t], s)
	}
	var out []Wave
	for _, group := range byTier {
		if len(group) == 0 {
			continue
		}
		slices.SortStableFunc(group, func(a, b Step) int {
			switch {
			case less(a.Object.Kind, b.Object.Kind):
				return -1
			case less(b.Object.Kind, a.Object.Kind):
				return 1
			default:
				return 0
			}
		})
		out = append(out, Wave{Steps: group})
	}
	return out
}

func installWaves(steps []Step) []Wave {
	return waves(steps, func(k kinds.Kind) int { return k.Tiers.Install() }, kinds.InstallLess)
}

func uninstallWaves(steps []Step) []Wave {
	return waves(steps, func(k kinds.Kind) int { return k.Tiers.Uninstall() }, kinds.UninstallLess)
}

// oneByOne gives every step a wave of its own.
func oneByOne(steps []Step) []Wave {
	out := make([]Wave, len(steps))
	for i, s := range steps {
		out[i] = Wave{Steps: []Step{s}}
	}
	return out
}
