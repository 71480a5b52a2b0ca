package values

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// fit says which subcharts of a chart fit which of its dependencies, by name and version range. An invalid
// range or version fits nothing.
type fit struct {
	chart *chart.Chart
	// first is the first subchart that fits a dependency, which is the one that is rendered for it.
	first map[*chart.Dependency]*chart.Chart
	// fits are the subcharts that fit some dependency.
	fits map[*chart.Chart]bool
	// named are the subcharts of a name.
	named map[string][]*chart.Chart
}

// fitOf compares c's dependencies with its subcharts. Errors: there are too many of one name.
func fitOf(c *chart.Chart) (*fit, error) {
	f := &fit{chart: c, first: map[*chart.Dependency]*chart.Chart{}, fits: map[*chart.Chart]bool{}, named: map[string][]*chart.Chart{}}
	versions := map[*chart.Chart]*semver.Version{}
	for _, sub := range c.Dependencies() {
		f.named[sub.Name()] = append(f.named[sub.Name()], sub)
		if version, err := semver.NewVersion(sub.Metadata.Version); err == nil {
			versions[sub] = version
		}
	}
	compared := 0
	for _, d := range c.Metadata.Dependencies {
		// A longer range has more alternatives.
		if compared += len(f.named[d.Name]) * (1 + len(d.Version)/16); compared > maxComparedVersions {
			return nil, fmt.Errorf("chart %s: more than %d versions of subcharts would have to be compared with its dependencies", c.FullPath(), maxComparedVersions)
		}
		f.compare(d, versions)
	}
	return f, nil
}

func (f *fit) compare(d *chart.Dependency, versions map[*chart.Chart]*semver.Version) {
	constraint, err := semver.NewConstraint(d.Version)
	if err != nil {
		return
	}
	for _, sub := range f.named[d.Name] {
		version := versions[sub]
		if version == nil || !constraint.Check(version) {
			continue
		}
		f.fits[sub] = true
		if f.first[d] == nil {
			f.first[d] = sub
		}
	}
}

// declared lists the subcharts that are rendered: first those without a dependency, then one for each
// dependency, under its alias.
func (f *fit) declared() []*chart.Chart {
	out := f.undeclared()
	for _, d := range f.chart.Metadata.Dependencies {
		sub := f.first[d]
		if sub == nil {
			continue
		}
		aliased := sub.Clone()
		aliased.Metadata.Name = d.EffectiveName()
		out = append(out, aliased)
	}
	return out
}

// undeclared lists the subcharts that fit no dependency.
func (f *fit) undeclared() []*chart.Chart {
	var out []*chart.Chart
	for _, sub := range f.chart.Dependencies() {
		if !f.fits[sub] {
			out = append(out, sub)
		}
	}
	return out
}

// otherVersions says of the dependencies that charts/ holds only in versions outside their ranges what
// becomes of those (Helm 4.3.1, pkg/chart/v2/util/dependencies.go, processDependencyEnabled: a subchart without
// a fitting dependency stays, as one without any does).
func (f *fit) otherVersions() map[*chart.Dependency]string {
	type others struct{ held, becomes string }
	known := map[string]others{} // for each name
	out := map[*chart.Dependency]string{}
	for _, d := range f.chart.Metadata.Dependencies {
		if f.first[d] != nil || d.Version == "" || len(f.named[d.Name]) == 0 {
			continue
		}
		o, ok := known[d.Name]
		if !ok {
			var held []string
			o.becomes = "it is left out"
			for _, sub := range f.named[d.Name] {
				if held = append(held, sub.Metadata.Version); !f.fits[sub] {
					o.becomes = "that is rendered as " + d.Name
				}
			}
			o.held = strings.Join(held, ", ")
			known[d.Name] = o
		}
		out[d] = fmt.Sprintf("dependency %s is declared in version %q, and charts/ holds %s: %s", d.EffectiveName(), d.Version, o.held, o.becomes)
	}
	return out
}
