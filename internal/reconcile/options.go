package reconcile

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/options"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

func install(hr *flux.HelmRelease) flux.Install     { return value(hr.Spec.Install) }
func upgrade(hr *flux.HelmRelease) flux.Upgrade     { return value(hr.Spec.Upgrade) }
func rollback(hr *flux.HelmRelease) flux.Rollback   { return value(hr.Spec.Rollback) }
func uninstall(hr *flux.HelmRelease) flux.Uninstall { return value(hr.Spec.Uninstall) }

func value[T any](p *T) (out T) {
	if p != nil {
		out = *p
	}
	return out
}

// engineOptions converts options to the engine's.
func (p *pass) engineOptions(o releaseset.Options) (plan.Options, engine.ServerSide) {
	return o.Of(plan.Options{FieldManager: flux.FieldManager, AsHelm: p.r.Compatible, RecordHooks: true}), engine.ServerSide(o.ServerSide)
}

func (p *pass) installing() (plan.Options, engine.ServerSide) {
	return p.deploying(options.Install(p.hr), nil)
}

func (p *pass) upgrading(last *release.Revision) (plan.Options, engine.ServerSide) {
	return p.deploying(options.Upgrade(p.hr, last), last)
}

// deploying returns the options of an install or upgrade. With server-side apply, helm-controller
// 1.6 updates existing CRDs to what the chart says even with the policy Create, with which they
// are left alone here.
func (p *pass) deploying(o releaseset.Options, last *release.Revision) (plan.Options, engine.ServerSide) {
	out, side := p.engineOptions(o)
	if p.r.Compatible && !out.SkipCRDs && !options.ClientSide(o.ServerSide, last) {
		out.UpdateCRDs = true
	}
	return out, side
}

func (p *pass) rollingBack(to *release.Revision) (plan.Options, engine.ServerSide) {
	return p.engineOptions(options.Rollback(p.hr, to))
}

func (p *pass) uninstalling() plan.Options {
	o, _ := p.engineOptions(options.Uninstall(p.hr))
	return o
}

func testingOptions(hr *flux.HelmRelease) plan.Options {
	t := hr.Tests()
	o := plan.Options{Timeout: hr.TimeoutOf(t.Timeout), FieldManager: flux.FieldManager}
	for _, f := range t.Filters {
		if f.Exclude {
			o.SkipTests = append(o.SkipTests, f.Name)
		} else {
			o.OnlyTests = append(o.OnlyTests, f.Name)
		}
	}
	return o
}

// withRetries returns the HelmRelease with the strategy RetryOnFailure of its installs
// applied to the upgrades that repeat one: helm-controller uses the upgrades' own strategy,
// and stalls at the second failure unless both have it.
func withRetries(hr flux.HelmRelease) flux.HelmRelease {
	retried := func(s *flux.Strategy) bool { return s != nil && s.Name == flux.RetryOnFailure }
	up := slices.ContainsFunc(hr.Status.History, func(s flux.Snapshot) bool {
		return s.Status == string(release.StatusDeployed) || s.Status == string(release.StatusSuperseded)
	})
	if u := upgrade(&hr); !up && retried(install(&hr).Strategy) && u.Strategy == nil && u.Remediation == nil {
		u.Strategy = hr.Spec.Install.Strategy
		hr.Spec.Upgrade = &u
	}
	return hr
}
