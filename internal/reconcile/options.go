package reconcile

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// fieldManager is helm-controller's, so that releases change hands without conflicts.
const fieldManager = "helm-controller"

// Policies of spec.install.crds and spec.upgrade.crds; without one it is Create.
const (
	crdsSkip          = "Skip"
	crdsCreateReplace = "CreateReplace"
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

// timeout is that of an action: its own, or that of all.
func timeout(hr *flux.HelmRelease, own *metav1.Duration) time.Duration {
	if own == nil {
		return hr.Timeout()
	}
	return own.Duration
}

// deploying are the options of installs and upgrades.
func deploying(hr *flux.HelmRelease, d flux.Deployment, crds string) plan.Options {
	return plan.Options{
		Wait: !d.DisableWait, WaitForJobs: !d.DisableWait && !d.DisableWaitForJobs,
		ForceConflicts: true, TakeOwnership: !d.DisableTakeOwnership, NoHooks: d.DisableHooks,
		SkipCRDs: crds == crdsSkip, UpdateCRDs: crds == crdsCreateReplace,
		Timeout: timeout(hr, d.Timeout), FieldManager: fieldManager,
	}
}

func installing(hr *flux.HelmRelease) (plan.Options, engine.ServerSide) {
	i := install(hr)
	if i.SkipCRDs && i.CRDs == "" {
		i.CRDs = crdsSkip
	}
	o := deploying(hr, i.Deployment, i.CRDs)
	o.Replace = i.Replace
	o.CreateNamespace = i.CreateNamespace && hr.Spec.TargetNamespace != ""
	if i.ServerSideApply != nil && !*i.ServerSideApply {
		return o, engine.ServerSideOff
	}
	return o, engine.ServerSideOn
}

// upgrading are the options of an upgrade of a revision; force is for client-side apply
// alone, as in Helm 4.
func upgrading(hr *flux.HelmRelease, last *release.Revision) (plan.Options, engine.ServerSide) {
	u := upgrade(hr)
	o := deploying(hr, u.Deployment, u.CRDs)
	o.CleanupOnFail, o.HistoryMax = u.CleanupOnFail, hr.MaxHistory()
	side := serverSide(u.ServerSideApply)
	o.Force = u.Force && clientSide(side, last)
	return o, side
}

func rollingBack(hr *flux.HelmRelease, to *release.Revision) (plan.Options, engine.ServerSide) {
	r := rollback(hr)
	side := serverSide(r.ServerSideApply)
	return plan.Options{
		Wait: !r.DisableWait, WaitForJobs: !r.DisableWait && !r.DisableWaitForJobs, NoHooks: r.DisableHooks,
		ForceConflicts: true, TakeOwnership: true, CleanupOnFail: r.CleanupOnFail, Force: r.Force && clientSide(side, to),
		HistoryMax: hr.MaxHistory(), Timeout: timeout(hr, r.Timeout), FieldManager: fieldManager,
	}, side
}

func uninstalling(hr *flux.HelmRelease) plan.Options {
	u := uninstall(hr)
	return plan.Options{
		Wait: !u.DisableWait, NoHooks: u.DisableHooks, KeepHistory: u.KeepHistory,
		Cascade: cmp.Or(u.DeletionPropagation, "background"), Timeout: timeout(hr, u.Timeout), FieldManager: fieldManager,
	}
}

func testingOptions(hr *flux.HelmRelease) plan.Options {
	t := hr.Tests()
	o := plan.Options{Timeout: timeout(hr, t.Timeout), FieldManager: fieldManager}
	for _, f := range t.Filters {
		if f.Exclude {
			o.SkipTests = append(o.SkipTests, f.Name)
		} else {
			o.OnlyTests = append(o.OnlyTests, f.Name)
		}
	}
	return o
}

func serverSide(field string) engine.ServerSide {
	switch field {
	case "enabled":
		return engine.ServerSideOn
	case "disabled":
		return engine.ServerSideOff
	}
	return engine.ServerSideAuto
}

func clientSide(side engine.ServerSide, last *release.Revision) bool {
	return side == engine.ServerSideOff || side == engine.ServerSideAuto && last != nil && last.ApplyMethod != release.ServerSide
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
