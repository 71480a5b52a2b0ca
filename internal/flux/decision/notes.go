package decision

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Notes returns sentences about the decision that a reviewer should read and that
// no condition of Flux says beforehand: whether a stalled release is retried, what
// a failure leads to, and which changed fields have no effect yet. base is the
// HelmRelease before the planned change, nil when it is new or nothing is compared.
func Notes(in Input, d Decision, base *flux.HelmRelease) []string {
	hr := in.HelmRelease
	var out []string
	if flux.ConditionTrue(hr.Status.Conditions, flux.ConditionStalled) && d.State != "" {
		if d.Resets != "" {
			out = append(out, "stalled until now: this change resets the retries ("+d.Resets+")")
		} else {
			out = append(out, "stalled: this change does not reset the retries")
		}
	}
	if in.nameInUse(d) {
		out = append(out, "the install fails every time: the records of an uninstalled release are kept, and Helm can't reuse its name without spec.install.replace")
	}
	if d.OnFailure != nil {
		out = append(out, d.OnFailure.String())
	}
	if base == nil {
		return out
	}
	if hr.Spec.Suspend && !base.Spec.Suspend {
		out = append(out, "the change suspends the release")
	}
	if !hr.Spec.Suspend && base.Spec.Suspend {
		out = append(out, "the change resumes the release: everything changed since it was suspended is applied now")
	}
	if later := Uncompared(base, hr); len(later) > 0 && d.Action == Nothing {
		out = append(out, "no release now; these count from the next action on: "+strings.Join(later, ", "))
	}
	return out
}

// nameInUse reports whether an install runs into a release that was uninstalled with its
// history kept.
func (in Input) nameInUse(d Decision) bool {
	newest, install := in.newest(), in.HelmRelease.Spec.Install
	return d.Action == Install && newest != nil && newest.Info.Status == release.StatusUninstalled && (install == nil || !install.Replace)
}

// compared are the fields of spec that a pass looks at, or that change what the pass
// does. A change of any other field is no reason for a release.
var compared = []string{
	"chart", "chartRef", "values", "valuesFrom", "postRenderers", "commonMetadata", "releaseName", "targetNamespace",
	"storageNamespace", "suspend", "dependsOn", "test.enable", "test.ignoreFailures", "test.filters", "driftDetection",
	"kubeConfig", "serviceAccountName",
}

// isCompared reports whether a pass looks at a field, given its path without "spec.".
func isCompared(path string) bool {
	return slices.ContainsFunc(compared, func(field string) bool {
		rest, ok := strings.CutPrefix(path, field)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".["))
	})
}

// Uncompared returns the fields of spec that differ and that helm-controller does not
// compare, such as "spec.timeout" or "spec.upgrade.remediation.retries".
func Uncompared(base, head *flux.HelmRelease) []string {
	var out []string
	for _, change := range fielddiff.Compare(base.Object, head.Object) {
		if path, in := strings.CutPrefix(change.Path, "spec."); in && !isCompared(path) {
			out = append(out, change.Path)
		}
	}
	return out
}
