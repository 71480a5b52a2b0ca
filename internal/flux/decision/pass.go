package decision

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Next returns what the next pass would do first, and what would follow.
func Next(in Input) Decision {
	hr := in.HelmRelease
	if hr.Metadata.DeletionTimestamp != nil {
		return deletion(hr)
	}
	if (hr.Spec.Chart == nil) == (hr.Spec.ChartRef == nil) {
		return decide(Stall, "InvalidChartReference", "exactly one of spec.chart and spec.chartRef must be set")
	}
	if hr.Spec.Suspend {
		return decide(Nothing, "Suspended", "suspended: nothing happens; all changes made meanwhile are applied when it is resumed")
	}
	if d, ended := prerequisites(in); ended {
		return d
	}
	if d, moved := move(in); moved {
		return d
	}
	next := *hr
	in.HelmRelease = &next
	resets := resetReason(in)
	if resets != "" {
		next.Status.Failures, next.Status.InstallFailures, next.Status.UpgradeFailures = 0, 0, 0
	}
	d := in.release()
	d.Resets = resets
	return d
}

// deletion decides about a HelmRelease that is being deleted.
func deletion(hr *flux.HelmRelease) Decision {
	switch {
	case hr.Spec.Suspend:
		return decide(Nothing, "Suspended", "suspended: the HelmRelease is deleted, the release is left running")
	case hr.Status.StorageNamespace == "":
		return decide(Nothing, "NotReleased", "nothing was released")
	}
	return decide(Uninstall, "Deleted", "the HelmRelease is deleted")
}

// prerequisites end a pass before the release is looked at, in
// helm-controller's order.
func prerequisites(in Input) (Decision, bool) {
	o := in.Obstacles
	if o.Expression != nil {
		return decide(Stall, ReasonInvalidExpression, o.Expression.Error()), true
	}
	for _, dep := range in.Dependencies {
		if d, ended := dep.decide(); ended && d.Action == Wait && len(in.Cycle) > 0 {
			return decide(Stall, ReasonDependencyCycle, "it waits for itself: "+strings.Join(in.Cycle, " → ")), true
		} else if ended {
			return d, true
		}
	}
	switch {
	case o.Denied != nil:
		return decide(Stall, ReasonAccessDenied, o.Denied.Error()), true
	case o.NoSource != nil:
		return decide(Fail, ReasonArtifactFailed, "could not get Source object: "+o.NoSource.Error()), true
	case o.SourceNotReady != "":
		return decide(Wait, ReasonSourceNotReady, o.SourceNotReady), true
	case o.Values != nil:
		return decide(Fail, ReasonValuesError, o.Values.Error()), true
	case o.Chart != nil:
		return decide(Fail, ReasonArtifactFailed, o.Chart.Error()), true
	case o.Version != nil:
		return decide(Fail, ReasonChartMutateError, o.Version.Error()), true
	case o.Client != nil:
		return decide(Fail, ReasonRESTClientError, o.Client.Error()), true
	}
	return Decision{}, false
}

// decide reports whether the dependency holds the release back, and the decision if so.
func (d Dependency) decide() (Decision, bool) {
	switch {
	case d.HelmRelease == nil:
		return decide(Wait, ReasonDependencyNotReady, fmt.Sprintf("waits for %s, which does not exist", d.Name)), true
	case d.Invalid != nil:
		return decide(Stall, ReasonInvalidExpression, fmt.Sprintf("readyExpr of dependency %s: %v", d.Name, d.Invalid)), true
	case d.Failed != nil:
		return decide(Wait, ReasonDependencyNotReady, fmt.Sprintf("waits for %s: its readyExpr: %v", d.Name, d.Failed)), true
	case d.ready():
		return Decision{}, false
	case d.Expression:
		return decide(Wait, ReasonDependencyNotReady, fmt.Sprintf("waits for %s, which is not ready according to its readyExpr", d.Name)), true
	}
	return decide(Wait, ReasonDependencyNotReady, fmt.Sprintf("waits for %s, which is not ready", d.Name)), true
}

func (d Dependency) ready() bool {
	return d.Expression && d.Ready || !d.Expression && Ready(d.HelmRelease)
}

// NotReady returns why the dependency holds the release back, in helm-controller's words;
// "" when it does not.
func (d Dependency) NotReady() string {
	switch {
	case d.HelmRelease == nil:
		return fmt.Sprintf("unable to get '%s' dependency: %v", d.Name, d.Failed)
	case d.Invalid != nil:
		return fmt.Sprintf("terminal error: failed to evaluate dependency %s: %v", d.HelmRelease.Metadata.Name, d.Invalid)
	case d.Failed != nil:
		return d.Failed.Error()
	case d.ready():
		return ""
	case d.Expression:
		return fmt.Sprintf("dependency '%s' is not ready according to readyExpr eval", d.Name)
	}
	return fmt.Sprintf("dependency '%s' is not ready", d.Name)
}

// Ready reports whether others that depend on the HelmRelease may proceed: its
// status is that of its generation and it is Ready.
func Ready(hr *flux.HelmRelease) bool {
	return hr.Metadata.Generation == hr.Status.ObservedGeneration && flux.ConditionTrue(hr.Status.Conditions, flux.ConditionReady)
}

// resetReason returns why the failure counters are reset, "" when they are not.
// What is not known is assumed to be unchanged.
func resetReason(in Input) string {
	hr, s := in.HelmRelease, in.HelmRelease.Status
	switch {
	case s.LastAttemptedGeneration != hr.Metadata.Generation:
		return "generation differs from last attempt"
	case in.Chart.Version != "" && s.LastAttemptedRevision != in.Chart.Version:
		return "chart version differs from last attempt"
	case in.ValuesDigest != "" && s.LastAttemptedConfigDigest != "" && s.LastAttemptedConfigDigest != in.ValuesDigest:
		return "values differ from last attempt"
	case requested(hr, flux.AnnotationResetAt, s.LastHandledResetAt):
		return "reset requested through annotation"
	}
	return ""
}

// requested reports whether an annotation asks for something that was not handled
// yet: it has to equal requestedAt, and both have to be new.
func requested(hr *flux.HelmRelease, annotation, handled string) bool {
	at, ok := hr.Metadata.Annotations[annotation]
	asked, asks := hr.Metadata.Annotations[flux.AnnotationRequestedAt]
	return ok && asks && at == asked && hr.Status.LastHandledReconcileAt != asked && handled != at
}

// forced reports whether an install or upgrade is forced by annotation.
func (in Input) forced() bool {
	return requested(in.HelmRelease, flux.AnnotationForceAt, in.HelmRelease.Status.LastHandledForceAt)
}

// newest returns the record with the highest revision, nil when there is none.
func (in Input) newest() *release.Revision {
	var out *release.Revision
	for _, r := range in.Records {
		if out == nil || r.Version > out.Version {
			out = r
		}
	}
	return out
}
