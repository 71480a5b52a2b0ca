package reconcile

import (
	"context"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/expression"
)

// dependencies reads the HelmReleases of spec.dependsOn, up to the first that is not ready, and reports
// whether all are.
func (p *pass) dependencies(ctx context.Context) bool {
	for _, of := range p.hr.Spec.DependsOn {
		dep := p.dependency(ctx, of)
		p.input.Dependencies = append(p.input.Dependencies, dep)
		if dep.NotReady() != "" {
			if !p.r.Compatible {
				p.input.Cycle = p.cycle(ctx)
			}
			return false
		}
	}
	return true
}

func (p *pass) dependency(ctx context.Context, of flux.Dependency) decision.Dependency {
	of = of.In(p.hr.Metadata.Namespace)
	dep := decision.Dependency{Name: of.String(), Expression: of.ReadyExpr != ""}
	object, err := p.r.Local.Lookup(ctx, flux.HelmGroup+"/v2", flux.KindHelmRelease, of.Namespace, of.Name)
	if err == nil {
		dep.HelmRelease, err = flux.DecodeHelmRelease(object.Object)
	}
	dep.Failed = err
	if err == nil && dep.Expression {
		expression.EvaluateReady(&dep, of.ReadyExpr, p.hr.Object)
	}
	return dep
}

// maxCycle is how many HelmReleases are searched for a cycle.
const maxCycle = 100

// cycle returns the cycle of dependencies that the HelmRelease is in and that nothing ends
// on its own, nil for none: nobody in it is ready, and no dependency in it has a
// readyExpr.
func (p *pass) cycle(ctx context.Context) []string {
	stuck := []*flux.HelmRelease{p.hr}
	seen := map[string]bool{p.hr.String(): true}
	for i := 0; i < len(stuck) && i < maxCycle; i++ {
		hr := *stuck[i]
		hr.Spec.DependsOn = slices.DeleteFunc(slices.Clone(hr.Spec.DependsOn), func(d flux.Dependency) bool { return d.ReadyExpr != "" })
		stuck[i] = &hr
		for _, of := range hr.Spec.DependsOn {
			of = of.In(hr.Metadata.Namespace)
			if seen[of.String()] {
				continue
			}
			seen[of.String()] = true
			object, err := p.r.Local.Lookup(ctx, flux.HelmGroup+"/v2", flux.KindHelmRelease, of.Namespace, of.Name)
			if err != nil {
				continue
			}
			if dep, err := flux.DecodeHelmRelease(object.Object); err == nil && !decision.Ready(dep) {
				stuck = append(stuck, dep)
			}
		}
	}
	return decision.Cycle(p.hr, stuck)
}
