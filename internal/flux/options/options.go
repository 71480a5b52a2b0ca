// Package options turns what a HelmRelease's spec says about its actions into the options of a
// release: for plans of what helm-controller will do, and for a controller that does it.
package options

import (
	"cmp"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Policies of spec.install.crds and spec.upgrade.crds; the default is Create. spec.install.skipCRDs, which
// is deprecated, has no effect (helm-controller 1.6.3, internal/action/install.go, Install).
const (
	crdsSkip          = "Skip"
	crdsCreateReplace = "CreateReplace"
)

// What Options.ServerSide may be.
const (
	serverSideAuto = "auto"
	serverSideOn   = "true"
	serverSideOff  = "false"
)

// Install returns the options of installs.
func Install(hr *flux.HelmRelease) releaseset.Options {
	i := *cmp.Or(hr.Spec.Install, &flux.Install{})
	o := deployment(hr, i.Deployment, i.CRDs)
	o.Replace, o.CreateNamespace = i.Replace, i.CreateNamespace && hr.Spec.TargetNamespace != ""
	o.HistoryMax, o.ServerSide = new(int), serverSideOn
	if i.ServerSideApply != nil && !*i.ServerSideApply {
		o.ServerSide = serverSideOff
	}
	return o
}

// Upgrade returns the options of an upgrade from the last revision, which is nil if it is not known.
func Upgrade(hr *flux.HelmRelease, last *release.Revision) releaseset.Options {
	u := *cmp.Or(hr.Spec.Upgrade, &flux.Upgrade{})
	o := deployment(hr, u.Deployment, u.CRDs)
	history := hr.MaxHistory()
	o.HistoryMax, o.CleanupOnFail, o.ReuseValues = &history, u.CleanupOnFail, u.PreserveValues
	o.ServerSide = serverSide(u.ServerSideApply)
	o.Force = u.Force && ClientSide(o.ServerSide, last)
	return o
}

// deployment returns the options that installs and upgrades share.
func deployment(hr *flux.HelmRelease, d flux.Deployment, crds string) releaseset.Options {
	return releaseset.Options{
		Wait: !d.DisableWait, WaitForJobs: !d.DisableWait && !d.DisableWaitForJobs,
		ForceConflicts: true, TakeOwnership: !d.DisableTakeOwnership, NoHooks: d.DisableHooks, SkipSchema: d.DisableSchemaValidation,
		SkipCRDs: crds == crdsSkip, UpdateCRDs: crds == crdsCreateReplace, Timeout: hr.TimeoutOf(d.Timeout),
	}
}

// Rollback returns the options of a rollback to a revision.
func Rollback(hr *flux.HelmRelease, to *release.Revision) releaseset.Options {
	r := *cmp.Or(hr.Spec.Rollback, &flux.Rollback{})
	history, side := hr.MaxHistory(), serverSide(r.ServerSideApply)
	return releaseset.Options{
		Wait: !r.DisableWait, WaitForJobs: !r.DisableWait && !r.DisableWaitForJobs, NoHooks: r.DisableHooks,
		ForceConflicts: true, TakeOwnership: true, CleanupOnFail: r.CleanupOnFail, Force: r.Force && ClientSide(side, to),
		HistoryMax: &history, Timeout: hr.TimeoutOf(r.Timeout), ServerSide: side,
	}
}

// Uninstall returns the options of uninstalls.
func Uninstall(hr *flux.HelmRelease) releaseset.Options {
	u := *cmp.Or(hr.Spec.Uninstall, &flux.Uninstall{})
	return releaseset.Options{
		Wait: !u.DisableWait, NoHooks: u.DisableHooks, KeepHistory: u.KeepHistory,
		Cascade: cmp.Or(u.DeletionPropagation, "background"), Timeout: hr.TimeoutOf(u.Timeout), HistoryMax: new(int),
	}
}

func serverSide(field string) string {
	switch field {
	case "enabled":
		return serverSideOn
	case "disabled":
		return serverSideOff
	}
	return serverSideAuto
}

// ClientSide reports whether the operation that follows the last revision uses client-side apply:
// only then is force allowed, as in Helm 4.
func ClientSide(side string, last *release.Revision) bool {
	return side == serverSideOff || side == serverSideAuto && last != nil && last.ApplyMethod != release.ServerSide
}
