package plan

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// OnFailure is what runs after a step of the plan's stages has failed, or a
// signal or time limit has stopped the run. It is planned in advance, so
// nothing is deleted or recorded that the plan did not list.
type OnFailure struct {
	// Stages run in this order: what the run has created is deleted (if the
	// option cleanupOnFail is set), then the revision gets its final status.
	Stages []Stage `json:"stages,omitempty"`
	// Rollback previews the rollback of an atomic operation, which follows the stages. It is nil for
	// an operation that is not atomic, and for one other than an install if no revision has
	// succeeded: nothing is rolled back then.
	Rollback *RollbackPreview `json:"rollback,omitempty"`
}

// StageCleanup deletes what a failed run has created.
const StageCleanup StageName = "clean up"

// onFailure plans what happens if the run fails. All other stages must be planned when it is
// called.
func (b *builder) onFailure() {
	last := b.in.History.Last()
	if b.in.Operation == Uninstall && (last == nil || last.Info.Status == release.StatusUninstalled) {
		return // there is no release, or it stays uninstalled
	}
	if b.in.Against != nil || b.in.Operation == CorrectDrift || b.in.Operation == CorrectRecords {
		return // a comparison is not run, and corrections write no revision
	}
	f := &OnFailure{}
	if b.in.Options.CleanupOnFail {
		f.add(StageCleanup, b.uninstallWaves(b.cleanup()))
	}
	f.add(StageRecord, oneByOne([]Step{b.failedRecord()}))
	if b.in.Options.Atomic {
		f.Rollback = b.rollbackPreview()
	}
	b.plan.OnFailure = f
}

func (f *OnFailure) add(name StageName, waves []Wave) {
	if len(waves) > 0 {
		f.Stages = append(f.Stages, Stage{Name: name, Waves: waves})
	}
}

// cleanup returns the steps that delete the resources that the run has created. The release's
// namespace and CRDs stay, as in Helm 4.3.1 (pkg/action/upgrade.go, failRelease): others may
// already use them.
func (b *builder) cleanup() []Step {
	var steps []Step
	b.plan.Steps(func(stage StageName, s *Step) {
		if stage != StageResources || s.Op != OpCreate {
			return
		}
		steps = append(steps, Step{
			ID: stepID(StageCleanup, s.Object), Op: OpDelete, Object: s.Object, APIVersion: s.APIVersion, Source: s.Source,
			Of: s.ID, When: WhenSucceeded, Cascade: b.in.Options.Cascade, Fidelity: FidelityExact, Why: "--cleanup-on-fail, if this run created it",
		})
	})
	return steps
}

// failedRecord returns the step that gives the revision its final status. If tests fail, their
// outcome is recorded and the release keeps its status.
func (b *builder) failedRecord() Step {
	if b.in.Operation == Test {
		r := b.in.Target.Record
		return b.recordStep("failed", Record{Revision: r.Version, Status: r.Info.Status, Description: r.Info.Description}, "keep the outcome of the tests")
	}
	r := Record{Revision: b.plan.ToRevision, Status: release.StatusFailed, Prune: b.prunedOnFailure()}
	why := fmt.Sprintf("revision %d failed", r.Revision)
	if n := len(r.Prune); n > 0 {
		why += fmt.Sprintf(", %d older failed ones removed", n)
	}
	return b.recordStep("failed", r, why)
}

// RollbackOptions returns the options of the rollback: those of the failed plan, except that it waits
// until what it restores is ready, or what it deletes is gone, has no overall timeout and is not subject
// to policies: what was allowed may be undone. That is why it deletes and creates only what the failed
// run has deleted and created, see Input.Recreated.
func (p *Document) RollbackOptions() Options {
	o := p.Options
	o.Atomic, o.CleanupOnFail, o.Description, o.OverallTimeout, o.Policy = false, false, "", 0, Policy{}
	o.Labels = nil
	o.Wait, o.Force = true, false
	o.KeepHistory = p.OnFailure.Rollback.KeepHistory
	return o
}

// mentionUndone adds to the description of a rollback's record the objects whose changes the
// rollback undoes, which are all objects that the plan writes, and those that it leaves as they are.
func (b *builder) mentionUndone(r *Record) {
	if !b.in.Undoing {
		return
	}
	_, all := b.plan.SplitByCompletion(nil)
	written := len(all) - len(b.plan.NotUndone)
	if written > 0 {
		r.Description += "; undone: " + SummarizeObjects(all[:written])
	}
	if left := all[written:]; len(left) > 0 {
		r.Description += "; not undone: " + SummarizeObjects(left)
	}
}
