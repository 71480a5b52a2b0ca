package values

import (
	"errors"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// importAll imports values from subcharts into the defaults of their parents, from the leaves up.
func (p *processor) importAll(c *chart.Chart) error {
	for _, sub := range c.Dependencies() {
		if err := p.importAll(sub); err != nil {
			return err
		}
	}
	return p.importInto(c)
}

// importInto sets c's defaults as Helm does for every chart with dependencies: its own defaults
// with those of all subcharts, and below these the imported values (Helm 4.3.1,
// pkg/chart/v2/util/dependencies.go, processImportValues).
func (p *processor) importInto(c *chart.Chart) error {
	if c.Metadata.Dependencies == nil {
		return nil
	}
	defaults, err := merge(c, nil)
	if err != nil {
		return err
	}
	imported := map[string]any{}
	for _, d := range c.Metadata.Dependencies {
		var rules []any
		for _, item := range d.ImportValues {
			child, parent, ok := importRule(item)
			if !ok {
				continue
			}
			rules = append(rules, map[string]any{"child": child, "parent": parent})
			table, ok := tableAt(defaults, d.Name+"."+child)
			if !ok {
				p.warn(c, "import-values: dependency %s has no table %q", d.Name, child)
				continue
			}
			// The tables are shared with defaults on purpose: Helm shares them, so two imports into
			// one table are visible in the dependency's values. It does not share empty ones.
			if len(table) == 0 {
				table = map[string]any{}
			}
			(&coalescer{}).tables(imported, nest(parent, table), "", true)
			if err := p.measure(imported, 0); err != nil {
				return fmt.Errorf("chart %s: import-values of dependency %s: %w", c.FullPath(), d.Name, err)
			}
		}
		d.ImportValues = rules
	}
	if err := p.measure(defaults, 0); err != nil {
		return fmt.Errorf("chart %s: import-values: %w", c.FullPath(), err)
	}
	if len(imported) > 0 {
		defaults = Clone(defaults)
		(&coalescer{}).tables(defaults, imported, "", true)
	}
	c.Values = defaults
	return nil
}

// importRule parses one entry of import-values: a {child, parent} pair, or the name of a table in
// the child's "exports", which is imported at the top.
func importRule(item any) (child, parent string, ok bool) {
	switch item := item.(type) {
	case string:
		return "exports." + item, ".", true
	case map[string]any:
		return textOf(item["child"]), textOf(item["parent"]), true
	}
	return "", "", false
}

// textOf formats a value as Helm does (Helm 4.3.1, pkg/chart/v2/util/dependencies.go,
// processImportValues); a missing one becomes "<nil>", which names no table.
func textOf(v any) string { return fmt.Sprintf("%v", v) }

// measure counts a value's entries against the limit for all imports. It returns an error for
// tables that were imported into themselves (which crash Helm) and for tables that double with
// every import.
func (p *processor) measure(v any, depth int) error {
	p.imported++
	if p.imported > maxImportSteps {
		return fmt.Errorf("the values grow beyond %d entries", maxImportSteps)
	}
	if depth > 2*maxYAMLDepth {
		return errors.New("a table is imported into itself")
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if err := p.measure(e, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := p.measure(e, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
