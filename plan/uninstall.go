package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// uninstall plans the removal of everything that the stored revisions sent, the namespace of the lock last, and
// not waited for. Only then are the records removed, if they are not in that namespace and go with it, too: a
// deletion that fails is still recorded, and repeated by the next uninstall.
func (b *builder) uninstall() {
	last := b.in.History.Last()
	if last == nil {
		b.block(ProblemInvalid, manifest.ID{}, fmt.Sprintf("there is no release %s in namespace %s", b.in.Release.Name, b.in.Release.Namespace), "see "+b.in.Invocation.Command("list", "--all-namespaces"))
		return
	}
	if last.Info.Status == release.StatusUninstalled {
		// Nothing is left but the records: those are removed, or stay as they are (Helm 4.3.1,
		// pkg/action/uninstall.go, Run).
		if !b.in.Options.KeepHistory {
			b.recordStage(StageRecord, b.recordsRemoved(Record{}))
		}
		return
	}
	b.stored = map[manifest.ID]*StoredObject{}
	description := pendingDescription(Uninstall)
	if !last.Succeeded() {
		description = PendingMark + ": uninstall of a failed revision under way"
	}
	b.recordStage(StagePending, b.recordStep("pending", Record{
		Revision: last.Version, Status: release.StatusUninstalling, Description: description,
	}, fmt.Sprintf("revision %d uninstalling", last.Version)))
	b.interruptedStage()
	b.hookStage(manifest.PreDelete)

	var namespace []Step
	removals := make([]Step, 0, len(b.in.Stored)) // steps are large, as in resources
	for _, s := range b.in.Stored {
		s, known := b.ownedDocs(s, false)
		if !known {
			continue
		}
		step, ok := b.unwantedStep(s, false)
		switch {
		case !ok:
		case step.Op == OpDelete && s.ID == NamespaceID(b.in.lockNamespace()):
			step.ID = stepID(StageNamespace, s.ID)
			namespace = []Step{step}
		default:
			removals = append(removals, step)
		}
	}
	b.stage(StageResources, b.uninstallWaves(removals))
	if b.in.Options.Wait {
		b.goneStage(removals)
	}
	b.hookStage(manifest.PostDelete)
	if len(namespace) > 0 && b.holdsRecords(namespace[0].Object) {
		b.recordsGoAlong(&namespace[0])
		b.stage(StageNamespace, oneByOne(namespace))
		return
	}
	b.stage(StageNamespace, oneByOne(namespace))
	b.recordStage(StageRecord, b.uninstallRecord(last))
}

// recordsGoAlong says of the deletion of a namespace that it removes the release's records.
func (b *builder) recordsGoAlong(deletion *Step) {
	deletion.Why += "; its records go with the namespace"
	if b.in.Options.KeepHistory {
		b.warn(deletion.Object, "the records of the release are in it, so --keep-history keeps none of them",
			"to keep them, upgrade first to a chart that has it with helm.sh/resource-policy: keep")
	}
}

// goneStage adds the stage that waits until the deleted objects are gone.
func (b *builder) goneStage(removals []Step) {
	var steps []Step
	for _, s := range removals {
		if s.Op == OpDelete {
			steps = append(steps, Step{
				ID: stepID(StageWait, s.Object) + "/gone", Op: OpWait, Object: s.Object, APIVersion: s.APIVersion,
				Expect: Expect{UID: s.Expect.UID, Absent: true}, Fidelity: FidelityUnknown, Why: "until it is gone",
			})
		}
	}
	if len(steps) > 0 {
		b.stage(StageWait, []Wave{{Steps: steps}})
	}
}

func (b *builder) uninstallRecord(last *release.Revision) Step {
	r := Record{Revision: last.Version, Status: release.StatusUninstalled, Description: b.description()}
	if b.in.Options.KeepHistory {
		// The newest revision may be a failed attempt. Only that one becomes uninstalled, deployed
		// ones superseded (Helm 4.3.1, pkg/action/uninstall.go).
		for _, version := range b.superseded() {
			if version != last.Version {
				r.Supersede = append(r.Supersede, version)
			}
		}
		return b.recordStep("final", r, fmt.Sprintf("revision %d uninstalled, history kept", last.Version))
	}
	return b.recordsRemoved(r)
}

// recordsRemoved returns the last step of an uninstall, which writes the record, if it has a revision, and
// removes all records.
func (b *builder) recordsRemoved(r Record) Step {
	for _, h := range b.in.History {
		r.Prune = append(r.Prune, h.Version)
	}
	for _, c := range b.in.Corrupt {
		if c.Revision != 0 {
			r.Prune = append(r.Prune, c.Revision)
		}
	}
	slices.Sort(r.Prune)
	return b.recordStep("final", r, fmt.Sprintf("%d revisions removed", len(r.Prune)))
}
