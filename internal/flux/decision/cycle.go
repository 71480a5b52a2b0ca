package decision

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Cycles returns, by "namespace/name", the HelmReleases that wait for ever since spec.dependsOn leads them
// into a cycle, each with such a cycle: it begins and ends with the same name, not necessarily that of the
// HelmRelease. helm-controller does not notice cycles. A dependency that is not among releases counts as met.
func Cycles(releases []*flux.HelmRelease) map[string][]string {
	needs, neededBy, left := needsOf(releases), map[string][]string{}, map[string]int{}
	for _, hr := range releases {
		left[hr.String()] = 0
	}
	for name, of := range needs {
		for _, need := range of {
			if _, known := left[need]; known {
				left[name]++
				neededBy[need] = append(neededBy[need], name)
			}
		}
	}
	var met []string
	for name, n := range left {
		if n == 0 {
			met = append(met, name)
		}
	}
	for len(met) > 0 {
		name := met[0]
		met = met[1:]
		delete(left, name)
		for _, by := range neededBy[name] {
			if left[by]--; left[by] == 0 {
				met = append(met, by)
			}
		}
	}
	// Each that is left depends on another one that is left: whoever follows the first of them comes to a cycle.
	out := map[string][]string{}
	for _, hr := range releases {
		name := hr.String()
		var path []string
		place := map[string]int{} // of each in path, from 1
		for left[name] > 0 && out[name] == nil && place[name] == 0 {
			path = append(path, name)
			place[name] = len(path)
			name = needs[name][slices.IndexFunc(needs[name], func(need string) bool { return left[need] > 0 })]
		}
		cycle := out[name]
		if i := place[name]; i > 0 {
			cycle = append(slices.Clone(path[i-1:]), name)
		}
		for _, each := range path {
			out[each] = cycle
		}
	}
	return out
}

// Cycle returns a cycle of spec.dependsOn that begins and ends with a HelmRelease, nil if there is none among
// releases.
func Cycle(of *flux.HelmRelease, releases []*flux.HelmRelease) []string {
	needs, seen := needsOf(releases), map[string]bool{}
	var leads func(name string) []string
	leads = func(name string) []string {
		seen[name] = true
		for _, need := range needs[name] {
			if need == of.String() {
				return []string{name, need}
			}
			if !seen[need] {
				if path := leads(need); path != nil {
					return append([]string{name}, path...)
				}
			}
		}
		return nil
	}
	return leads(of.String())
}

// needsOf returns what each HelmRelease depends on, by "namespace/name".
func needsOf(releases []*flux.HelmRelease) map[string][]string {
	out := map[string][]string{}
	for _, hr := range releases {
		for _, dep := range hr.Spec.DependsOn {
			out[hr.String()] = append(out[hr.String()], dep.In(hr.Metadata.Namespace).String())
		}
	}
	return out
}
