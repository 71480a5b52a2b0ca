package values

import "github.com/kubectl-release/kubectl-release/internal/chart"

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
func RenderValues(c *chart.Chart, user map[string]any, rel ReleaseInfo, capabilities any) (map[string]any, error) {
	vals, err := Coalesce(c, user)
	if err != nil {
		return nil, err
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
	}, nil
}
