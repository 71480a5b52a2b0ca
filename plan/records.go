package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// pendingRecord stores the new revision as pending before anything else is
// written: whatever happens then, the next plan knows what may be there.
func (b *builder) pendingRecord(status release.Status) Step {
	to := b.in.Target.Record.Version
	return b.recordStep("pending", Record{
		Revision: to, Status: status, Description: pendingDescription(b.in.Operation), Fail: b.interrupted(),
	}.withReason(), fmt.Sprintf("revision %d %s, with all that it is going to send", to, status))
}

// withReason is the record with what those revisions say that it has fail.
func (r Record) withReason() Record {
	if len(r.Fail) > 0 {
		r.FailDescription = "The run was interrupted"
	}
	return r
}

// correctRecords records the newest revision as failed where it is pending, and as superseded
// what still counts as deployed beside the newest, which is. Whoever plans holds the lock, so
// that no run is at work on the release.
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

// finalRecord makes the new revision the deployed one.
func (b *builder) finalRecord() Step {
	to := b.in.Target.Record.Version
	r := Record{
		Revision: to, Status: release.StatusDeployed, Description: b.description(),
		Supersede: b.superseded(), Prune: b.pruned(),
	}
	b.mentionUndone(&r)
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

// pendingDescription also tells a later plan that this tool wrote the record.
func pendingDescription(op Operation) string {
	switch op {
	case Install:
		return PendingMark + ": install under way"
	case Upgrade:
		return PendingMark + ": upgrade under way"
	case Rollback:
		return PendingMark + ": rollback under way"
	case Uninstall:
		return PendingMark + ": uninstall under way"
	case Test:
		return PendingMark + ": test under way"
	case CorrectDrift, CorrectRecords: // nothing is pending
	}
	return PendingMark
}

// PendingMark begins the description of every revision that this tool has
// recorded as pending.
const PendingMark = "kubectl-release"

// UnlockedMark ends it when the run that has recorded it could not take a lock. It is all that
// apply adds to what a plan records: whether there is a lock is known when the run begins.
const UnlockedMark = ", without a lock"

// description is the user's, else Helm's words for the same outcome.
func (b *builder) description() string {
	switch {
	case b.in.Options.Description != "":
		return b.in.Options.Description
	case b.in.Operation == Install:
		return "Install complete"
	case b.in.Operation == Rollback:
		return fmt.Sprintf("Rollback to %d", b.in.RollbackTo)
	case b.in.Operation == Uninstall:
		return "Uninstallation complete"
	default:
		return "Upgrade complete"
	}
}

// interrupted are revisions that a dead run left pending.
func (b *builder) interrupted() []int {
	var out []int
	for _, r := range b.in.History {
		if r.Info.Status.Pending() {
			out = append(out, r.Version)
		}
	}
	return out
}

// superseded are the revisions that the new one takes the place of: those that are deployed.
// With Options.AsHelm an upgrade has a failed one superseded where none is deployed (pkg/action/upgrade.go,
// prepareUpgrade in helm/helm).
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
	return out
}

// pruned are the oldest revisions beyond the history's limit. The new revision
// counts, and it is the one that is good by then.
func (b *builder) pruned() []int {
	limit := b.in.Options.HistoryMax
	excess := len(b.in.History) + 1 - limit
	if b.in.Resume { // it is among the history
		excess--
	}
	if limit <= 0 || excess <= 0 {
		return nil
	}
	var out []int
	for _, r := range b.in.History[:min(excess, len(b.in.History))] {
		out = append(out, r.Version)
	}
	return out
}
