package engine

import (
	"context"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Capabilities are what templates of a chart see of the cluster. CRDs of the
// chart count as installed.
func (e *Engine) Capabilities(ctx context.Context, c *chart.Chart) (*templating.Capabilities, error) {
	facts, err := e.Cluster.Facts(ctx)
	if err != nil {
		return nil, err
	}
	crds, err := ParseCRDs(c)
	if err != nil {
		return nil, err
	}
	return capabilities(facts, crds)
}
