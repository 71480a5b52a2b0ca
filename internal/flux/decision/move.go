package decision

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// move decides about a HelmRelease that names another release than its status
// does: the old one is uninstalled, the history is cleared, and the next pass
// starts afresh. A HelmRelease that was not released yet does not move.
func move(in Input) (Decision, bool) {
	hr := in.HelmRelease
	history := hr.Status.Snapshots()
	if hr.Status.StorageNamespace == "" || len(history) == 0 {
		return Decision{}, false
	}
	what, from, to := moved(hr, history[0], in.Chart.Name)
	if what == "" {
		return Decision{}, false
	}
	d := decide(Uninstall, ReasonTargetChanged,
		fmt.Sprintf("the %s changes from %s to %s: release %s/%s is uninstalled with all its objects, and the new one installed",
			what, from, to, history[0].Namespace, history[0].Name))
	if what == "release namespace" {
		d.Because = append(d.Because, fmt.Sprintf(
			"objects that set no namespace are left behind in %s, and objects with the same names in %s are deleted: the uninstall looks in the new namespace",
			from, to))
	}
	d.Leaves, d.Then = &history[0], afterMove(in, history[0])
	return d, true
}

// moved returns what differs. A chart whose name is not known is assumed to be
// the same.
func moved(hr *flux.HelmRelease, was flux.Snapshot, chart string) (what, from, to string) {
	switch {
	case hr.StorageNamespace() != hr.Status.StorageNamespace:
		return "storage namespace", hr.Status.StorageNamespace, hr.StorageNamespace()
	case hr.ReleaseNamespace() != was.Namespace:
		return "release namespace", was.Namespace, hr.ReleaseNamespace()
	case hr.ReleaseName() != was.Name:
		return "release name", was.Name, hr.ReleaseName()
	case chart != "" && chart != was.ChartName && hr.Reinstalls():
		return "chart name", was.ChartName, chart
	}
	return "", "", ""
}

// afterMove returns what the pass after the uninstall does. Its records are those
// of the new name; if that is the old one, they are gone with the release, or say
// that it is uninstalled.
func afterMove(in Input, was flux.Snapshot) []Action {
	next := *in.HelmRelease
	s := &next.Status
	if next.StorageNamespace() == s.StorageNamespace && next.ReleaseName() == was.Name {
		in.Records = slices.DeleteFunc(slices.Clone(in.Records), func(r *release.Revision) bool {
			return r.Info.Status != release.StatusUninstalled
		})
	}
	s.History, s.StorageNamespace = nil, ""
	s.Failures, s.InstallFailures, s.UpgradeFailures = 0, 0, 0
	in.HelmRelease = &next
	d := in.release()
	return append([]Action{d.Action}, d.Then...)
}
