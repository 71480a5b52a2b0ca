package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// pendingRecord returns the step that stores the new revision as pending
// before anything but the namespace that it is stored in is written, CRDs included (see
// Options.RecordHooks for the exception): whatever happens then, the next plan knows what may be in the
// cluster.
func (b *builder) pendingRecord(status release.Status) Step {
	to := b.in.Target.Record.Version
	r := Record{Revision: to, Status: status, Description: pendingDescription(b.in.Operation)}
	b.failInterrupted(&r)
	return b.recordStep("pending", r, fmt.Sprintf("revision %d %s, with everything that it will send", to, status))
}

// failInterrupted has a record mark as failed the other revisions that dead runs left pending. One that
// had succeeded until its uninstall began is still known as such afterwards.
func (b *builder) failInterrupted(r *Record) {
	for _, left := range b.in.History {
		if !left.Info.Status.Pending() || left.Version == r.Revision {
			continue
		}
		r.Fail, r.FailDescription = append(r.Fail, left.Version), release.Interrupted
		if left.Succeeded() { // only the newest revision can be such a one
			if r.Descriptions == nil {
				r.Descriptions = map[int]string{}
			}
			r.Descriptions[left.Version] = release.UninstallFailed(left.Name) + "the run was interrupted"
		}
	}
}

// correctRecords marks the newest revision as failed if it is pending; if it is deployed, it marks
// the other deployed revisions as superseded. The caller holds the lock, so no run is at work on
// the release.
func (b *builder) correctRecords() {
	last := b.in.History.Last()
	switch {
	case last == nil:
	case last.Info.Status.Pending():
		b.recordStage(StageRecord, b.recordStep("final", Record{
			Revision: last.Version, Status: release.StatusFailed, Description: b.in.Options.Description,
		}, fmt.Sprintf("revision %d failed, its run is gone", last.Version)))
	case last.Info.Status == release.StatusDeployed:
		r := Record{Supersede: slices.DeleteFunc(b.superseded(), func(version int) bool { return version == last.Version })}
		if len(r.Supersede) > 0 {
			b.recordStage(StageRecord, b.recordStep("final", r, fmt.Sprintf("revision %d is deployed, %d others superseded", last.Version, len(r.Supersede))))
		}
	}
}

// finalRecord returns the step that records the new revision as deployed.
func (b *builder) finalRecord() Step {
	to := b.in.Target.Record.Version
	r := Record{
		Revision: to, Status: release.StatusDeployed, Description: b.description(),
		Supersede: b.superseded(), Prune: b.pruned(),
	}
	if over := b.in.History.Uninstalled(); over != nil && slices.Contains(r.Supersede, over.Version) {
		r.Descriptions = map[int]string{over.Version: "superseded by new release"} // Helm 4.3.1, pkg/action/install.go, replaceRelease
	}
	b.mentionUndone(&r)
	if b.in.Resume { // no pending record comes first that would do so
		b.failInterrupted(&r)
	}
	why := fmt.Sprintf("revision %d deployed", to)
	for _, s := range r.Supersede {
		why += fmt.Sprintf(", revision %d superseded", s)
	}
	if n := len(r.Prune); n > 0 {
		why += fmt.Sprintf(", %d oldest removed", n)
	}
	return b.recordStep("final", r, why)
}

func (b *builder) recordStep(name string, r Record, why string) Step {
	return Step{ID: "record/" + name, Op: OpRecord, Record: &r, Fidelity: FidelityExact, Why: why}
}

// pendingDescription describes a pending revision, and also tells a later plan that this tool wrote
// the record.
func pendingDescription(op Operation) string {
	switch op {
	case Install:
		return PendingMark + ": install under way"
	case Upgrade:
		return PendingMark + ": upgrade under way"
	case Rollback:
		return PendingMark + ": rollback under way"
	case Uninstall:
		return release.UninstallUnderWay
	case Test:
		return PendingMark + ": test under way"
	case CorrectDrift, CorrectRecords: // nothing is pending
	}
	return PendingMark
}

// PendingMark is how the description of every revision begins that this tool
// records as pending.
const PendingMark = "kubectl-release"

// UnlockedMark is how that description ends if the run could not take a lock. Apply adds it: only when
// the run begins is it known whether there is one. Besides, apply adds only outcomes to what a plan
// records: the phases of hooks, and why a run failed.
const UnlockedMark = ", without a lock"

// description returns the user's description, or Helm's words for the same outcome.
func (b *builder) description() string {
	switch {
	case b.in.Options.Description != "":
		return b.in.Options.Description
	case b.in.Operation == Install:
		return "Install complete"
	case b.in.Operation == Rollback:
		return fmt.Sprintf("Rollback to %d", b.in.RollbackTo)
	case b.in.Operation == Uninstall:
		return release.UninstallComplete
	default:
		return "Upgrade complete"
	}
}

// superseded returns the revisions that the new one supersedes: those that are deployed, and the one
// whose uninstall kept the history, over which this is an install (pkg/action/install.go,
// replaceRelease in helm/helm). With Options.AsHelm, an upgrade supersedes the last revision if that
// has failed and none is deployed (pkg/action/upgrade.go, prepareUpgrade).
func (b *builder) superseded() []int {
	var out []int
	var last *release.Revision
	for _, r := range b.in.History {
		if r.Info.Status == release.StatusDeployed {
			out = append(out, r.Version)
		}
		if b.in.Target != nil && r.Version != b.in.Target.Record.Version {
			last = r
		}
	}
	if b.in.Options.AsHelm && b.in.Operation == Upgrade && len(out) == 0 && last != nil && last.Info.Status == release.StatusFailed {
		out = append(out, last.Version)
	}
	if over := b.in.History.Uninstalled(); over != nil && (b.in.Operation == Install || b.in.Operation == Upgrade) {
		out = append(out, over.Version)
	}
	slices.Sort(out)
	return out
}
