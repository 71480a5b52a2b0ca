package decision

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// found is the state of the release, and why.
type found struct {
	state State
	why   string
	// err is why the state can't be determined.
	err error
}

// state determines the state of the release: the first rule that applies.
func (in Input) state() found {
	if in.Obstacles.Records != nil {
		return found{Undetermined, "", fmt.Errorf("failed to retrieve last release from storage: %w", in.Obstacles.Records)}
	}
	r, history := in.newest(), in.HelmRelease.Status.Snapshots()
	switch {
	case r == nil:
		return found{state: Absent, why: "no release is stored"}
	case pending(r.Info.Status):
		return found{state: Locked, why: fmt.Sprintf("revision %d is %s: the run that wrote it has died or is still at work", r.Version, r.Info.Status)}
	case len(history) == 0 && r.Info.Status == release.StatusUninstalled:
		return found{state: Absent, why: "the stored release is uninstalled"}
	case len(history) == 0:
		return found{state: Unmanaged, why: fmt.Sprintf("revision %d exists, but this HelmRelease did not create it", r.Version)}
	}
	same, err := digest.VerifyRecord(history[0], r)
	if err != nil {
		return found{state: Undetermined, err: fmt.Errorf("failed to verify release object: %w", err)}
	}
	if !same {
		return found{state: Unmanaged, why: fmt.Sprintf("the release was changed outside of Flux: revision %d is not the record that Flux made", r.Version)}
	}
	switch r.Info.Status {
	case release.StatusFailed:
		return found{state: Failed, why: fmt.Sprintf("revision %d has failed", r.Version)}
	case release.StatusUninstalled:
		return found{state: Absent, why: "the stored release is uninstalled"}
	case release.StatusDeployed:
		return in.deployed(r, history[0])
	case release.StatusUnknown, release.StatusSuperseded, release.StatusUninstalling,
		release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusPendingRollback:
	}
	return found{state: Undetermined, err: fmt.Errorf("unable to determine state for release with status '%s'", r.Info.Status)}
}

// pending reports whether a status counts as locked. Helm does not count
// uninstalling.
func pending(s release.Status) bool { return s.Pending() && s != release.StatusUninstalling }

// deployed compares a deployed revision with what it should be.
func (in Input) deployed(r *release.Revision, cur flux.Snapshot) found {
	hr := in.HelmRelease
	was := r.Chart.Metadata
	switch {
	case in.Chart.Name != "" && was.Name != in.Chart.Name:
		return found{state: OutOfSync, why: fmt.Sprintf("the chart changes from %s to %s", was.Name, in.Chart.Name)}
	case in.Chart.Version != "" && was.Version != in.Chart.Version:
		return found{state: OutOfSync, why: fmt.Sprintf("the chart's version changes from %s to %s", was.Version, in.Chart.Version)}
	case in.ValuesDigest != "" && cur.ConfigDigest != in.ValuesDigest:
		return found{state: OutOfSync, why: valuesDiffer(hr)}
	}
	if changed := in.rendering(); changed != "" {
		return found{state: OutOfSync, why: changed}
	}
	switch {
	case in.Chart.Version == "":
		return found{state: Undetermined, why: "the chart is not known"}
	case in.ValuesDigest == "":
		return found{state: Undetermined, why: "some values are not known; if they have changed it is an upgrade"}
	}
	if tests := hr.Tests(); tests.Enable {
		if !cur.Tested(tests) {
			return found{state: Untested, why: fmt.Sprintf("revision %d has not been tested", r.Version)}
		}
		remedy, active := hr.ActiveRemedy()
		if active && !remedy.IgnoreTests && cur.TestIn(flux.TestFailed) {
			return found{state: Failed, why: fmt.Sprintf("a test of revision %d has failed", r.Version)}
		}
	}
	return in.drift()
}

func valuesDiffer(hr *flux.HelmRelease) string {
	if hr.Spec.Upgrade != nil && hr.Spec.Upgrade.PreserveValues {
		return "the values are not those of the newest revision; with upgrade.preserveValues they never are once they differ from what was merged, and every reconciliation upgrades"
	}
	return "the values change"
}

// rendering returns whether the post-renderers or the common metadata have changed,
// as a sentence or "". They are not compared if this generation is ready: the digests of a status that
// an old version of Flux wrote may be missing.
func (in Input) rendering() string {
	hr := in.HelmRelease
	switch {
	case hr.Status.ObservedGeneration == hr.Metadata.Generation && flux.ConditionTrue(hr.Status.Conditions, flux.ConditionReady):
	case digest.PostRenderers(hr.Spec.PostRenderers) != hr.Status.ObservedPostRenderersDigest:
		return "the post-renderers change"
	case digest.CommonMetadata(hr.Spec.CommonMetadata) != hr.Status.ObservedCommonMetadataDigest:
		return "the common metadata changes"
	}
	return ""
}

// drift comes last, when everything else is in sync.
func (in Input) drift() found {
	if in.HelmRelease.DriftMode() != "" {
		switch in.Drift {
		case DriftFound:
			return found{state: Drifted, why: "live objects differ from the stored manifest"}
		case DriftUnknown:
			return found{state: Undetermined, err: fmt.Errorf("unable to determine cluster state: a dry run failed")}
		case DriftNotLooked, DriftNone:
		}
	}
	if in.Chart.Rewritten {
		return found{state: InSync, why: fmt.Sprintf("nothing will happen: chart version %s is unchanged, so changes to the chart's files do not count", in.Chart.Version)}
	}
	return found{state: InSync, why: "chart, values and post-renderers are those of the newest revision"}
}
