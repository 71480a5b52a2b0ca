package values

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// MissingError lists the dependencies that a chart declares but was not loaded with.
type MissingError struct {
	Chart string
	Names []string
}

func (e *MissingError) Error() string {
	lines := make([]string, len(e.Names))
	for i, name := range e.Names {
		lines[i] = fmt.Sprintf("chart %s declares the dependency %s in Chart.yaml, but charts/ does not hold it", e.Chart, name)
	}
	return strings.Join(lines, "\n")
}

// CheckDependencies checks that all dependencies that c declares were loaded with it. It checks
// neither versions nor the dependencies of subcharts. Errors: *MissingError.
func CheckDependencies(c *chart.Chart) error {
	missing := &MissingError{Chart: c.Name()}
	for _, d := range c.Metadata.Dependencies {
		if named(c, d.Name) == nil {
			missing.Names = append(missing.Names, d.Name)
		}
	}
	if len(missing.Names) == 0 {
		return nil
	}
	return missing
}

// ProcessDependencies returns the tree as it is rendered: without the subcharts that are disabled
// by condition or tags, with aliases, with only the declared versions, and with import-values in
// the defaults. Conditions and tags are read from the coalesced values. The returned chart, not the
// loaded one, belongs in the release record. c is not changed.
//
// The warnings are about what Helm silently ignores: conditions and tags that are not booleans,
// imports without a source, and dependencies of which charts/ holds another version.
func ProcessDependencies(c *chart.Chart, user map[string]any) (*chart.Chart, []chart.Warning, error) {
	out := c.Clone()
	var p processor
	if err := p.enable(out, user, ""); err != nil {
		return nil, nil, err
	}
	if err := p.importAll(out); err != nil {
		return nil, nil, err
	}
	return out, inOrder(p.warnings), nil
}

type processor struct {
	warnings []chart.Warning
	// imported counts the entries that imports have visited, switched those of the values in which
	// conditions and tags were looked up.
	imported, switched int
}

// enable decides which subcharts of c stay. path is the prefix, ending with a dot, under which c's
// conditions are looked up in the values.
func (p *processor) enable(c *chart.Chart, user map[string]any, path string) error {
	if c.Metadata.Dependencies == nil {
		return nil
	}
	fit, err := fitOf(c)
	if err != nil {
		return err
	}
	others := fit.otherVersions()
	c.SetDependencies(fit.declared()...)
	for _, d := range c.Metadata.Dependencies {
		d.Name = d.EffectiveName()
		d.Enabled = true
	}
	if len(c.Metadata.Dependencies)+len(c.Dependencies()) == 0 {
		return nil // there is nothing to switch
	}
	if p.switched += entries(user); p.switched > maxSwitched {
		return fmt.Errorf("chart %s: conditions and tags of dependencies are looked up in more than %d values in all", c.FullPath(), maxSwitched)
	}
	// Like Helm, this combines the root's values with a subchart's defaults as if they were the
	// root's own defaults (Helm 4.3.1, pkg/chart/v2/util/dependencies.go, processDependencyEnabled).
	// Only tags show it.
	vals, err := Coalesce(c, user)
	if err != nil {
		return err
	}
	off := map[string]bool{}
	var on []*chart.Dependency
	for _, d := range c.Metadata.Dependencies {
		p.byTags(d, vals, c)
		p.byCondition(d, vals, path, c)
		if !d.Enabled {
			off[d.Name] = true
		}
	}
	for _, d := range c.Metadata.Dependencies {
		if !off[d.Name] {
			on = append(on, d)
			if text := others[d]; text != "" {
				p.warn(c, "%s", text)
			}
		}
	}
	var kept []*chart.Chart
	for _, sub := range c.Dependencies() {
		if off[sub.Name()] {
			continue
		}
		at := path + sub.Name()
		if err := p.enable(sub, switching(vals, sub, at), at+"."); err != nil {
			return err
		}
		kept = append(kept, sub)
	}
	c.Metadata.Dependencies = on
	c.SetDependencies(kept...)
	return nil
}

// byTags disables a dependency if some of its tags are false and none is true.
func (p *processor) byTags(d *chart.Dependency, vals map[string]any, c *chart.Chart) {
	tags, ok := vals["tags"].(map[string]any)
	if !ok {
		return
	}
	var on, off bool
	for _, tag := range d.Tags {
		v, ok := tags[tag]
		if !ok {
			continue
		}
		b, isBool := v.(bool)
		if !isBool {
			p.warn(c, "tag %q of dependency %s is %s, not a boolean; it is ignored", tag, d.Name, kind(v))
			continue
		}
		on = on || b
		off = off || !b
	}
	d.Enabled = on || !off
}

// byCondition applies the first path of the condition that has a boolean value; it overrides tags.
func (p *processor) byCondition(d *chart.Dependency, vals map[string]any, path string, c *chart.Chart) {
	for _, cond := range strings.Split(strings.TrimSpace(d.Condition), ",") {
		if cond == "" {
			continue
		}
		v, ok := scalarAt(vals, path+cond)
		if !ok {
			continue
		}
		if b, isBool := v.(bool); isBool {
			d.Enabled = b
			return
		}
		p.warn(c, "condition %s of dependency %s is %s, not a boolean; it is ignored", path+cond, d.Name, kind(v))
	}
}

func (p *processor) warn(c *chart.Chart, format string, args ...any) {
	p.warnings = append(p.warnings, chart.Warning{Where: c.FullPath(), What: fmt.Sprintf(format, args...)})
}
