// Package decision says what helm-controller would do in its next pass over a
// HelmRelease, and why: one pure function over the object with its status, the
// records of the release, the chart, the composed values and the sources.
//
// It is the state machine of helm-controller 1.6 (internal/reconcile/state.go
// and atomic_release.go there), checked against recorded runs of it. It runs
// nothing and knows no cluster; plans and our controller use it alike.
package decision

import (
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Action is what a pass does first.
type Action string

const (
	// Nothing is done: the release is as it should be, or has to be left alone.
	Nothing Action = "nothing"
	Install Action = "install"
	Upgrade Action = "upgrade"
	Test    Action = "test"
	// RollBack is a remediation: a rollback to the newest good revision of status.history.
	RollBack Action = "roll back"
	// Uninstall is a remediation, the end of a HelmRelease, or the first half of a
	// move to another release.
	Uninstall Action = "uninstall"
	// Unlock marks a pending revision as failed.
	Unlock Action = "unlock"
	// Resume continues a revision that a run left pending when it died. Only our own
	// controller can do that, see Input.Resumable.
	Resume Action = "resume"
	// CorrectDrift patches and creates live objects, without a new revision.
	CorrectDrift Action = "correct drift"
	// Stall ends the retries until something changes.
	Stall Action = "stall"
	// Wait looks again after a while, for a dependency or a source.
	Wait Action = "wait"
	// Fail is an error that is retried with a growing backoff.
	Fail Action = "fail"
	// Unknown depends on values or a chart that are not known.
	Unknown Action = "unknown"
)

// State is how the release compares with the HelmRelease, in helm-controller's words.
type State string

const (
	Absent    State = "Absent"
	Locked    State = "Locked"
	Unmanaged State = "Unmanaged"
	OutOfSync State = "OutOfSync"
	Failed    State = "Failed"
	Untested  State = "Untested"
	Drifted   State = "Drifted"
	InSync    State = "InSync"
	// Undetermined is a state for which helm-controller has no rule, or which depends
	// on something that is not known.
	Undetermined State = "Unknown"
)

// Reasons of decisions that callers tell apart.
const (
	ReasonTargetChanged         = "TargetChanged"
	ReasonMissingRollbackTarget = "MissingRollbackTarget"
	ReasonDependencyCycle       = "DependencyCycle"
	ReasonDependencyNotReady    = "DependencyNotReady"
	ReasonInvalidExpression     = "InvalidCELExpression"
	ReasonAccessDenied          = "AccessDenied"
	ReasonArtifactFailed        = "ArtifactFailed"
	ReasonSourceNotReady        = "SourceNotReady"
	ReasonValuesError           = "ValuesError"
	ReasonChartMutateError      = "ChartMutateError"
	ReasonRESTClientError       = "RESTClientError"
)

// Input is what one pass looks at.
type Input struct {
	// HelmRelease has the spec and the generation that are planned, and the present
	// status.
	HelmRelease *flux.HelmRelease
	// Records are those of the release's name in its storage namespace, in any
	// order, complete or only their part release.Sent.
	Records []*release.Revision
	// Chart is what the source's artifact holds.
	Chart Chart
	// ValuesDigest is digest.Values of the composed values, "" when they are not
	// known.
	ValuesDigest string
	// Dependencies are those of spec.dependsOn, in its order.
	Dependencies []Dependency
	// Cycle is the cycle of dependencies, none of which is ready, that the HelmRelease is in, as
	// Cycles returns it; nil for none, or if nobody has looked.
	Cycle []string
	// Drift is what a comparison with live objects has found. It only counts if
	// spec.driftDetection asks for it.
	Drift Drift
	// Obstacles are what stands in the way of a pass.
	Obstacles Obstacles
	// Resumable reports whether the newest record is pending, and the caller could continue
	// it where its run ended. helm-controller never can.
	Resumable bool
}

// Chart is the chart that a pass would release.
type Chart struct {
	// Name is that in Chart.yaml; "" when it is not known.
	Name string
	// Version is the one that the templates see, including metadata; "" when it is
	// not known.
	Version string
	// Digest is the OCI artifact's, which is recorded in the status.
	Digest string
	// Rewritten reports whether the chart's files differ from those that were
	// released, or a planned change rewrites them.
	Rewritten bool
}

// Drift is the outcome of a comparison of live objects with the stored manifest.
type Drift int

const (
	// DriftNotLooked means that nothing was compared.
	DriftNotLooked Drift = iota
	DriftNone
	DriftFound
	// DriftUnknown means that a dry run failed, and there is no other difference.
	DriftUnknown
)

// Dependency is a HelmRelease of spec.dependsOn.
type Dependency struct {
	// Name is "namespace/name".
	Name string
	// HelmRelease is nil when it does not exist.
	HelmRelease *flux.HelmRelease
	// Expression reports whether readyExpr is given: Ready is its value.
	Expression bool
	Ready      bool
	// Invalid is why readyExpr does not compile.
	Invalid error
	// Failed is why it could not be evaluated.
	Failed error
}

// Obstacles end a pass before it looks at the release. The first that is set, in
// this order, counts; dependencies come after Expression.
type Obstacles struct {
	// Expression is why a health check does not compile.
	Expression error
	// Denied is why the source may not be used.
	Denied error
	// NoSource is why the source could not be read.
	NoSource error
	// SourceNotReady is why its artifact is not used, "" when it is.
	SourceNotReady string
	// Values is why the values could not be composed.
	Values error
	// Chart is why the chart could not be loaded.
	Chart error
	// Version is why the chart can't get its version, flux.VersionOf's error.
	Version error
	// Client is why the cluster can't be reached.
	Client error
	// Records is why the records could not be read.
	Records error
}

// Decision is what a pass would do.
type Decision struct {
	Action Action
	// State is the state of the release; "" when the pass ended before it was looked at.
	State State
	// Reason is that of the condition that helm-controller writes, where it writes
	// one, such as "RetriesExceeded" or "DependencyNotReady".
	Reason string
	// Because are sentences that explain the decision, the main one first.
	Because []string
	// Then are the actions that follow when this one succeeds: the rest of the pass,
	// and for a remediation or a move the next pass.
	Then []Action
	// Resets says why the failure counters are reset, "" when they are not.
	Resets string
	// Target is the revision to roll back to.
	Target int
	// Leaves is the release that a move uninstalls, nil for other actions.
	Leaves *flux.Snapshot
	// OnFailure is what follows when an install or upgrade fails.
	OnFailure *OnFailure
}

func decide(a Action, reason, because string) Decision {
	return Decision{Action: a, Reason: reason, Because: []string{because}}
}
