package values

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Warnings lists what Helm silently ignores when it processes the dependencies of a loaded chart
// and coalesces its values: conflicts of tables and scalars, conditions that are not booleans,
// imports without a source. It also lists deprecated charts. The order is stable, without duplicates.
func Warnings(c *chart.Chart, user map[string]any) []chart.Warning {
	processed, found, err := processDependencies(c, user)
	if err != nil {
		return nil
	}
	co := coalescer{}
	if _, err := co.chart(processed, Clone(user), ""); err != nil {
		return nil
	}
	found = append(found, co.warnings...)
	found = append(found, deprecated(processed)...)
	slices.SortFunc(found, func(a, b chart.Warning) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(found)
}

func deprecated(c *chart.Chart) []chart.Warning {
	var out []chart.Warning
	if c.Metadata.Deprecated {
		out = append(out, chart.Warning{Where: c.FullPath(), What: fmt.Sprintf("chart %s is deprecated", c.Name())})
	}
	for _, sub := range c.Dependencies() {
		out = append(out, deprecated(sub)...)
	}
	return out
}
