package lint

import (
	"slices"
	"strings"
)

// dependencies compares what Chart.yaml declares with what charts/ holds.
func (r *run) dependencies() {
	if r.Chart == nil {
		return
	}
	var declared, held, twice []string
	names := map[string]bool{}
	for _, d := range r.Chart.Metadata.Dependencies {
		declared = append(declared, d.Name)
		if names[d.EffectiveName()] {
			twice = append(twice, d.EffectiveName())
		}
		names[d.EffectiveName()] = true
	}
	for _, sub := range r.Chart.Dependencies() {
		held = append(held, sub.Name())
	}
	say := func(severity Severity, message string, names []string) {
		if len(names) > 0 {
			r.add(Finding{Severity: severity, Path: chartFile, Message: message + strings.Join(names, ", ")})
		}
	}
	say(Error, "charts/ holds charts that are not declared as dependencies: ", missingFrom(declared, held))
	say(Error, "more than one dependency has the name or alias ", twice)
	say(Warning, "dependencies are missing in charts/: ", missingFrom(held, declared))
}

// missingFrom returns the wanted names that are not among those there are.
func missingFrom(there, wanted []string) []string {
	var out []string
	for _, s := range wanted {
		if !slices.Contains(there, s) {
			out = append(out, s)
		}
	}
	return out
}
