package values

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// ReleaseInfo is what templates see as .Release.
type ReleaseInfo struct {
	Name      string
	Namespace string
	Revision  int
	IsInstall bool
	IsUpgrade bool
	Service   string // always "Helm": charts compare with it
}

// RenderValues coalesces the values and returns them with the other top-level objects of templates:
// Chart, Capabilities and Release. c is the result of ProcessDependencies. It does not check values
// against schemas, which Validate does.
//
// The warnings are about conflicts of tables and scalars, which Helm silently ignores, and about
// deprecated charts.
func RenderValues(c *chart.Chart, user map[string]any, rel ReleaseInfo, capabilities any) (map[string]any, []chart.Warning, error) {
	var co coalescer
	vals, err := co.chart(c, Clone(user), "")
	if err != nil {
		return nil, nil, err
	}
	return map[string]any{
		"Chart":        c.Metadata.Fields(),
		"Capabilities": capabilities,
		"Release": map[string]any{
			"Name":      rel.Name,
			"Namespace": rel.Namespace,
			"Revision":  rel.Revision,
			"IsInstall": rel.IsInstall,
			"IsUpgrade": rel.IsUpgrade,
			"Service":   rel.Service,
		},
		"Values": vals,
	}, inOrder(append(co.warnings, deprecated(c)...)), nil
}

// inOrder returns the warnings in a stable order, each once.
func inOrder(warnings []chart.Warning) []chart.Warning {
	slices.SortFunc(warnings, func(a, b chart.Warning) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(warnings)
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
