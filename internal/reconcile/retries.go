package reconcile

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

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
