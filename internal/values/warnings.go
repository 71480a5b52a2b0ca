package values

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Warnings lists what Helm ignores silently when it processes the dependencies of a loaded chart
// and coalesces its values: tables against scalars, conditions that are no booleans, imports
// without a source; and deprecated charts. The order is stable and nothing is listed twice.
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
