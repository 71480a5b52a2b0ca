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

// fieldManager is helm-controller's, so that releases change hands without conflicts.
const fieldManager = "helm-controller"

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

// engineOptions are options as the engine takes them.
func engineOptions(o releaseset.Options) (plan.Options, engine.ServerSide) {
	return o.Of(plan.Options{FieldManager: fieldManager}), engine.ServerSide(o.ServerSide)
}

func installing(hr *flux.HelmRelease) (plan.Options, engine.ServerSide) {
	return engineOptions(options.Install(hr))
}

func upgrading(hr *flux.HelmRelease, last *release.Revision) (plan.Options, engine.ServerSide) {
	return engineOptions(options.Upgrade(hr, last))
}

func rollingBack(hr *flux.HelmRelease, to *release.Revision) (plan.Options, engine.ServerSide) {
	return engineOptions(options.Rollback(hr, to))
}

func uninstalling(hr *flux.HelmRelease) plan.Options {
	o, _ := engineOptions(options.Uninstall(hr))
	return o
}

func testingOptions(hr *flux.HelmRelease) plan.Options {
	t := hr.Tests()
	o := plan.Options{Timeout: hr.TimeoutOf(t.Timeout), FieldManager: fieldManager}
	for _, f := range t.Filters {
		if f.Exclude {
			o.SkipTests = append(o.SkipTests, f.Name)
		} else {
			o.OnlyTests = append(o.OnlyTests, f.Name)
		}
	}
	return o
}

// withRetries is the HelmRelease with the strategy RetryOnFailure of its installs for the
// upgrades that repeat one: helm-controller takes the upgrades' own, and stalls at the second
// failure, unless both have it.
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
