package command

import (
	"context"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/pack"
)

// completeChart loads a chart that is about to be rendered. With --dependency-update it fetches the
// dependencies first if one is missing, as in Helm 4.3.1 (pkg/cmd/install.go). The dependencies in
// charts/ must match its lock.
func (p *program) completeChart(ctx context.Context, o *sourceFlags, path string) (*chart.Chart, []chart.Warning, error) {
	loaded, warnings, err := p.loadChart(ctx, &o.chart, path)
	if err == nil && o.render.dependencyUpdate && len(pack.Missing(loaded)) > 0 {
		if !isThere(path) {
			return nil, nil, usage("--dependency-update fetches dependencies into a folder, and %s is not a folder", path)
		}
		if err := p.updateDependencies(ctx, &o.chart.fetchFlags, path); err != nil {
			return nil, nil, err
		}
		loaded, warnings, err = p.loadChart(ctx, &o.chart, path)
	}
	return dependency.Verified(loaded, warnings, err)
}

// updateDependencies runs dependency update as part of another command.
func (p *program) updateDependencies(ctx context.Context, fetch *fetchFlags, path string) error {
	o, err := p.dependencyOptions(fetch)
	if err != nil {
		return err
	}
	outcomes, err := dependency.Update(ctx, path, o)
	for _, out := range outcomes {
		p.warnAll(out.Warnings)
		tellDependencies(p.streams.Err, out, false)
	}
	return err
}
